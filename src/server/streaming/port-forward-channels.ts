import type { WebSocketChannel, WebSocketChannels } from './websocket-channels.ts';
import { HttpError } from '../../ports/route.ts';
import { whenFinished } from '../../base/close-socket.ts';
import { type PortForwardDeps, portForwardFailure } from './port-forward-deps.ts';
import { parsePort } from './port-forward-streams.ts';
import { relayPort } from './relay-port.ts';

/** Two channels each, of 256. */
const MAX_PORTS = 127;

/** The ports that a WebSocket is for: "port", repeated or separated by commas. Throws HttpError 400 (pkg/kubelet/cri/streaming/portforward NewV4Options). */
export function portsQuery(query: URLSearchParams): readonly number[] {
  const texts = query.getAll('port');
  if (texts.length === 0) throw new HttpError(400, 'query parameter "port" is required');
  const ports = texts.flatMap((text) => {
    if (text === '') throw new HttpError(400, 'query parameter "port" cannot be empty');
    return text.split(',').map((part) => {
      const port = parsePort(part);
      if (port === undefined)
        throw new HttpError(400, /^0+$/.test(part) ? `port "${text}" must be > 0` : `unable to parse "${text}" as a port`);
      return port;
    });
  });
  if (ports.length > MAX_PORTS) throw new HttpError(400, `no more than ${MAX_PORTS} ports can be forwarded at a time`);
  return ports;
}

/** Forwards every port, one connection each, on channels 2n (data) and 2n+1 (errors). Resolves when all are over. */
export async function forwardChannels(
  connection: WebSocketChannels,
  ports: readonly number[],
  deps: PortForwardDeps,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    ports.map(async (port, index) => {
      const [data, error] = connection.channels.slice(index * 2);
      if (data === undefined || error === undefined) return;
      // The first message of each channel says which port it is for.
      const portBytes = Buffer.of(port & 0xff, port >> 8);
      data.write(portBytes);
      error.write(portBytes);
      await forwardChannel(port, data, error, deps, signal);
    }),
  );
}

async function forwardChannel(
  port: number,
  data: WebSocketChannel,
  error: WebSocketChannel,
  deps: PortForwardDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await relayPort(data, await deps.dial(port, signal), deps.clock);
    if (!data.destroyed) await whenFinished(data);
  } catch (cause) {
    if (signal.aborted) return;
    deps.log.v(2, 'port not forwarded', { port, error: cause });
    error.end(portForwardFailure(port, deps.pod, cause));
    await whenFinished(error);
  }
  data.destroy();
}
