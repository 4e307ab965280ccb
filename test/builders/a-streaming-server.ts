import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpError, type RouteRequest } from '../../src/ports/route.ts';

export type Upgrade = (request: RouteRequest, socket: Duplex, head: Buffer) => Promise<void>;

/** Serves every upgrade with one handler, as the node's server does: what is thrown before an answer becomes the answer. */
export class StreamingServer implements AsyncDisposable {
  readonly port: number;
  /** What each session ended with. */
  readonly sessions: Promise<void>[] = [];
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(handle: Upgrade, server: Server = createServer()): Promise<StreamingServer> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new StreamingServer(server, (server.address() as AddressInfo).port);
    server.on('upgrade', (message, socket, head) => started.sessions.push(answer(handle, message, socket, head)));
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.sessions);
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

async function answer(handle: Upgrade, message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  try {
    await handle(routeRequest(message, socket), socket, head);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const body = message.method === 'HEAD' ? '' : error.message;
    socket.end(`HTTP/1.1 ${error.status} X\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
  }
}

export function routeRequest(message: IncomingMessage, socket: Duplex): RouteRequest {
  const gone = new AbortController();
  socket.once('close', () => gone.abort(new Error('the client has gone')));
  return { message, params: {}, query: new URL(message.url ?? '/', 'http://node').searchParams, signal: gone.signal };
}
