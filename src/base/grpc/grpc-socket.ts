import { createServer, type Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { listenOnSocket } from '../listen-on-socket.ts';
import type { Logger } from '../logger.ts';
import type { GrpcServer } from './grpc-server.ts';

export interface GrpcSocketDeps {
  readonly path: string;
  readonly mode: number;
  /** Called for each try: makes the directory ready. */
  readonly prepare: () => Promise<void>;
  /** What serves is loaded with the first connection: a socket that is not called costs next to nothing. */
  readonly load: () => Promise<Pick<GrpcServer, 'accept' | 'close'>>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** Whether it listens: told after each try. */
  readonly onTried?: (listens: boolean) => void;
}

const RETRY_EVERY_MS = 10_000;
/** That wait for what serves to be loaded; later the server has bounds of its own. */
const MOST_WAITING = 64;

/** Listens on a socket from now on, until the signal aborts. Where that fails, says so once and tries again. */
export async function serveGrpcSocket(deps: GrpcSocketDeps, signal: AbortSignal): Promise<void> {
  const { path, mode, prepare, load, clock, log, onTried = () => {} } = deps;
  const waiting = new Set<Socket>();
  let loading: ReturnType<GrpcSocketDeps['load']> | undefined;
  const accept = async (socket: Socket): Promise<void> => {
    if (waiting.size >= MOST_WAITING || signal.aborted) {
      socket.destroy();
      return;
    }
    waiting.add(socket);
    const dropped = (): void => void waiting.delete(socket);
    socket.on('error', dropped);
    socket.once('close', dropped);
    try {
      (await (loading ??= load())).accept(socket);
    } catch (error) {
      loading = undefined;
      log.error('a connection cannot be served', { path, error });
      socket.destroy();
    }
    waiting.delete(socket);
  };
  const server = createServer((socket) => void accept(socket));
  let remove: (() => Promise<void>) | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await prepare();
      remove = await listenOnSocket(server, path, mode);
      onTried(true);
      break;
    } catch (error) {
      if (failures === 0) log.warn('cannot listen, retrying', { path, error, everyMs: RETRY_EVERY_MS });
      onTried(false);
      await clock.sleep(RETRY_EVERY_MS, signal).catch(() => {});
    }
  }
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await remove?.();
  server.close();
  for (const socket of waiting) socket.destroy();
  await (await loading?.catch(() => undefined))?.close();
}
