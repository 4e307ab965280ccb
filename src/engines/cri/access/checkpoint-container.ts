import { GrpcError } from '../../../base/grpc/grpc-error.ts';
import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/** Whole seconds from 0 to what fits into the runtime's int64, by far. */
const MOST_MS = 2 ** 53 - 1;

/** See ContainerAccess.checkpoint. A runtime may be asked for longer than for other calls (pkg/kubelet/cri/remote CheckpointContainer). */
export async function checkpointContainer(
  client: Pick<CriClient, 'call' | 'requestTimeoutMs'>,
  containerId: string,
  location: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const timeout = BigInt(Math.trunc(Math.min(timeoutMs, MOST_MS) / 1000));
  try {
    await client.call(
      RuntimeService.method.checkpointContainer,
      { containerId, location, timeout },
      signal,
      Math.max(client.requestTimeoutMs, Number(timeout) * 1000),
    );
  } catch (error) {
    if (!(error instanceof GrpcError) || !error.connected) throw error;
    // In a kubelet's words, as clients know them.
    throw new Error(`rpc error: code = ${error.code} desc = ${error.details}`, { cause: error });
  }
}
