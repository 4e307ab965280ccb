import type { IncomingMessage, Server as HttpServer, ServerOptions, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorCode } from '../base/error-code.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { aborted } from '../base/aborted.ts';
import { answerOnSocket } from './plain-answer.ts';
import type { RequestHandler } from './request-handler.ts';

/** What a client may take of the server's patience and memory. */
export const httpBounds: ServerOptions = {
  // The kubelet's http.Server has the same: the command line of an exec stands in the request line.
  maxHeaderSize: 1024 * 1024,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  // Longer than API servers keep an idle connection (client-go: 90 s), so that the side that may send is the one that closes.
  keepAliveTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
};

/** How long answers that are under way may take to end, once the server is to stop. */
const GRACE_MS = 2_000;
/** How often connections are looked at for clients that have stopped reading. */
const LOOK_EVERY_MS = 60_000;

export interface HttpListenerDeps {
  /** Made with `httpBounds`. */
  readonly server: HttpServer | HttpsServer;
  readonly handler: RequestHandler;
  /** A client that takes nothing of what waits for it for this long is cut off. Milliseconds; 0: never. */
  readonly stalledAfterMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Serves from the moment when `listen` has resolved until `signal` aborts. Then nothing is accepted any more, what is under way hears of it by its
 * signal and gets a moment to end, and every connection is closed. Rejects with what `listen` rejects with.
 */
export async function runHttpListener(
  { server, handler, stalledAfterMs, clock, log }: HttpListenerDeps,
  listen: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const sockets = new Set<Socket>();
  const streams = new Set<Duplex>();
  /** Requests under way, and connections that have become something else. */
  const active = new Set<ServerResponse | Duplex>();
  const keep = <T extends Duplex | ServerResponse>(kept: Set<T>, stream: T): void => {
    kept.add(stream);
    stream.once('close', () => kept.delete(stream));
  };
  server.on('connection', (socket: Socket) => {
    // A client may be gone before anybody listens.
    socket.on('error', () => {});
    keep(sockets, socket);
    keep(streams, socket);
  });
  server.on('secureConnection', (socket: Duplex) => keep(streams, socket));
  server.on('tlsClientError', (error: Error, socket: Duplex) => {
    log.v(4, 'a TLS handshake failed', { error });
    socket.destroy();
  });
  server.on('clientError', (error: Error, socket: Duplex) => answerFault(error, socket));
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    keep(active, response);
    void handler.request(message, response, signal);
  });
  server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    keep(active, socket);
    void handler.upgrade(message, socket, head, signal);
  });

  try {
    await listen(signal);
    // A listening socket that breaks says so at most once, and there is nobody to serve then.
    server.on('error', (error) => log.error('a listener broke', { error }));
    if (stalledAfterMs > 0) await cutStalled(streams, stalledAfterMs, clock, signal);
    else await aborted(signal);
  } finally {
    await close(server, active, clock, () => [...streams, ...sockets]);
  }
}

/** Until `signal` aborts. */
async function cutStalled(streams: ReadonlySet<Duplex>, stalledAfterMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const seen = new WeakMap<Duplex, { readonly takenBytes: number; readonly sinceMs: number }>();
  while (!signal.aborted) {
    await clock.sleep(Math.min(LOOK_EVERY_MS, stalledAfterMs), signal).catch(() => undefined);
    for (const stream of streams) {
      if (stream.writableLength === 0) {
        seen.delete(stream);
        continue;
      }
      const written = 'bytesWritten' in stream && typeof stream.bytesWritten === 'number' ? stream.bytesWritten : 0;
      const takenBytes = written - stream.writableLength;
      const last = seen.get(stream);
      if (last === undefined || last.takenBytes !== takenBytes) seen.set(stream, { takenBytes, sinceMs: clock.monotonicMs() });
      else if (clock.monotonicMs() - last.sinceMs >= stalledAfterMs) stream.destroy();
    }
  }
}

async function close(
  server: HttpServer | HttpsServer,
  active: ReadonlySet<ServerResponse | Duplex>,
  clock: Clock,
  connections: () => readonly Duplex[],
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // Also called, with an error, when it never listened.
    server.close(() => resolve());
  });
  const waiting = new AbortController();
  const grace = clock.sleep(GRACE_MS, waiting.signal).catch(() => undefined);
  const ends = [...active].map((each) => new Promise<void>((resolve) => each.once('close', () => resolve())));
  await Promise.race([Promise.all(ends), grace]);
  waiting.abort();
  for (const each of connections()) each.destroy();
  await closed;
}

const faults: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
};

/** A request that cannot be read gets an answer, if there is somebody left to read it. */
function answerFault(error: Error, socket: Duplex): void {
  const code = errorCode(error) ?? '';
  if (!socket.writable || code === 'ECONNRESET' || code === 'EPIPE') {
    socket.destroy();
    return;
  }
  const [status, text] = faults[code] ?? [400, 'Bad Request'];
  answerOnSocket(socket, status, `${status} ${text}\n`);
  // A client that goes on sending is not waited for.
  socket.once('finish', () => socket.destroy());
}
