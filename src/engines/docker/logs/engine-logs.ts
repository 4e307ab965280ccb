import type { Readable } from 'node:stream';
import type { ContainerLogsOptions } from 'dockerode';
import type { LogOptions, LogPiece } from '../../../ports/container-access.ts';
import { demux } from '../client/demux.ts';
import type { EngineClient } from '../client/engine-client.ts';

/**
 * What the engine tells of a container's output: for log drivers without files that can be read here. `raw`: the container has a
 * terminal, so that all is stdout. An abort of `signal` ends it without an error.
 */
export async function* engineLogs(
  client: EngineClient,
  id: string,
  raw: boolean,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  let remaining = options.limitBytes !== undefined && options.limitBytes >= 0 ? options.limitBytes : Number.POSITIVE_INFINITY;
  if (remaining === 0) return;
  let pieces: LogPiece[] = [];
  const take = raw
    ? (bytes: Buffer): void => void pieces.push({ stream: 'stdout', bytes })
    : demux((stream, bytes) => pieces.push({ stream, bytes }));
  try {
    for await (const chunk of await openLogs(client, id, options, signal)) {
      pieces = [];
      take(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
      for (const { stream, bytes } of pieces) {
        const allowed = bytes.subarray(0, remaining);
        remaining -= allowed.length;
        yield { stream, bytes: allowed };
        if (remaining === 0) return;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function openLogs(client: EngineClient, id: string, options: LogOptions, signal: AbortSignal): Promise<Readable> {
  const { follow, timestamps, tailLines, sinceMs, stream } = options;
  const query = {
    stdout: stream !== 'Stderr',
    stderr: stream !== 'Stdout',
    follow,
    timestamps,
    ...(sinceMs !== undefined && { since: (sinceMs / 1000).toFixed(9) }),
    ...(tailLines !== undefined && tailLines >= 0 && { tail: tailLines }),
  };
  return client.open(`GET /containers/${id}/logs`, client.requestTimeoutMs, signal, (docker) => {
    // dockerode would otherwise collect a log that is not followed in memory; what is asked for stands in the query.
    const streamed: ContainerLogsOptions & { readonly follow: true; readonly _query: object } = {
      follow: true,
      _query: query,
    };
    return docker.getContainer(id).logs(streamed);
  });
}
