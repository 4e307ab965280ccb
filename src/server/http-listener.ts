import type { IncomingMessage, Server as HttpServer, ServerOptions, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { errorCode } from '../base/error-code.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { aborted } from '../base/aborted.ts';
import { AnswersInTurn } from './answers-in-turn.ts';
import type { ListenerConnections } from './listener-connections.ts';
import { refuseConnection } from './refuse-connection.ts';
import type { RequestHandler } from './request-handler.ts';

/**
 * The longest request line and headers of a client that has shown a certificate, or opened the local socket. The kubelet's http.Server has
 * the same: the command line of an exec stands in the request line, and API servers show a certificate.
 */
const MOST_HEADER_BYTES = 1024 * 1024;
/** Of all others: they may take as long as the headers may, so many at a time, and each keeps what it has sent so far. */
const STRANGERS_HEADER_BYTES = 32 * 1024;

/** What a client may take of the server's patience and memory. */
export const httpBounds: ServerOptions = {
  maxHeaderSize: STRANGERS_HEADER_BYTES,
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

/** Whether a request may change the protocol is the handler's to say. */
export const upgradesTo = (handler: RequestHandler): ServerOptions => ({
  shouldUpgradeCallback: (message: IncomingMessage) => handler.wantsUpgrade(message),
});

/** The same for clients that may do everything. */
export const localBounds: ServerOptions = { ...httpBounds, maxHeaderSize: MOST_HEADER_BYTES };

export interface HttpListenerDeps {
  /** Made with `httpBounds` or `localBounds`. */
  readonly server: HttpServer | HttpsServer;
  readonly connections: ListenerConnections;
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
  { server, connections, handler, stalledAfterMs, clock, log }: HttpListenerDeps,
  listen: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const turns = new AnswersInTurn();
  const refused = new WeakSet<Duplex>();
  /** Requests under way, and connections that have become something else. */
  const active = new Set<ServerResponse | Duplex>();
  const keep = (stream: Duplex | ServerResponse): void => {
    active.add(stream);
    stream.once('close', () => active.delete(stream));
  };
  server.on('connection', (socket: Socket) => connections.accept(socket));
  // Before the server itself, which makes the connection's parser now and reads this for it.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    connections.speakOn(socket);
    Object.assign(server, { maxHeaderSize: socket.authorized ? MOST_HEADER_BYTES : STRANGERS_HEADER_BYTES });
  });
  server.on('tlsClientError', (error: Error, socket: Duplex) => {
    log.v(4, 'TLS handshake failed', { error });
    socket.destroy();
  });
  server.on('clientError', (error: Error, socket: Duplex) => {
    // What comes behind a request that cannot be read cannot be read either.
    if (refused.has(socket)) return;
    refused.add(socket);
    // A second answer would be read as part of the first.
    if (turns.isBusy(socket)) socket.destroy();
    else answerFault(error, socket, clock);
  });
  const answer = (message: IncomingMessage, response: ServerResponse): void =>
    turns.take(message.socket, response, () => {
      keep(response);
      void handler.request(message, response, signal);
    });
  server.on('request', answer);
  server.on('checkExpectation', answer);
  const switchOver = (message: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // An answer that is still to come would be read as part of the other protocol.
    if (turns.isBusy(socket)) {
      socket.destroy();
      return;
    }
    keep(socket);
    void handler.upgrade(message, socket, head, signal);
  };
  server.on('upgrade', switchOver);
  server.on('connect', switchOver);

  try {
    await listen(signal);
    // Most likely no more files can be opened: the next connection may be accepted again.
    server.on('error', (error) => log.error('connection not accepted', { error }));
    if (stalledAfterMs > 0) await cutStalled(connections.streams, stalledAfterMs, clock, signal);
    else await aborted(signal);
  } finally {
    await close(server, active, clock, connections);
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
  connections: ListenerConnections,
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
  connections.destroyAll();
  await closed;
}

const faults: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
};

/** A request that cannot be read gets an answer, if the client is still there. */
function answerFault(error: Error, socket: Duplex, clock: Clock): void {
  const code = errorCode(error) ?? '';
  if (!socket.writable || code === 'ECONNRESET' || code === 'EPIPE') {
    socket.destroy();
    return;
  }
  const [status, text] = faults[code] ?? [400, 'Bad Request'];
  void refuseConnection(socket, clock, status, `${status} ${text}\n`);
}
