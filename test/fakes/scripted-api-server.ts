import { once } from 'node:events';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { PemPair } from '../builders/a-pki.ts';

/** One request that waits for its answer. */
export interface ScriptedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The values of a header that came more than once. */
  headersOf(name: string): readonly string[];
  readonly body: string;
  /** The common name of the client's certificate. */
  readonly user: string | undefined;
  readonly http2: boolean;
  /** Which connection it came on, from 1. */
  readonly connection: number;
  answer(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Begins an answer that goes on with `write`. */
  begin(): void;
  write(bytes: string | Uint8Array): void;
  end(): void;
  /** Breaks the connection off. */
  cut(): void;
  /** The client wants no more. */
  readonly closed: Promise<unknown>;
}

export interface ScriptedApiServerOptions extends PemPair {
  /** Offers HTTP/2, as API servers do. */
  readonly http2?: boolean;
}

/** An HTTPS server whose answers the test gives, one request after the other. Asks for client certificates and takes any, as API servers do. */
export class ScriptedApiServer {
  readonly #server: Server;
  readonly #sockets: TLSSocket[] = [];
  readonly #waiting: ((request: ScriptedRequest) => void)[] = [];
  readonly #unasked: ScriptedRequest[] = [];
  /** All requests so far, "GET /path?query". */
  readonly seen: string[] = [];
  port = 0;

  private constructor({ certificatePem, keyPem, http2 = true }: ScriptedApiServerOptions) {
    const options = { cert: certificatePem, key: keyPem, requestCert: true, rejectUnauthorized: false };
    this.#server = http2 ? createSecureServer({ ...options, allowHTTP1: true }) : createServer(options);
    this.#server.on('secureConnection', (socket: TLSSocket) => this.#sockets.push(socket.on('error', () => {})));
    this.#server.on('sessionError', () => {});
    this.#server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => void this.#take(request, response));
  }

  static async start(options: ScriptedApiServerOptions): Promise<ScriptedApiServer> {
    const server = new ScriptedApiServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    server.port = (server.#server.address() as AddressInfo).port;
    return server;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.#sockets.length;
  }

  /** The next request that nobody has taken yet. */
  next(): Promise<ScriptedRequest> {
    const first = this.#unasked.shift();
    return first === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(first);
  }

  /** Whether a request waits to be taken. */
  get asked(): boolean {
    return this.#unasked.length > 0;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cutAll();
    await new Promise((done) => this.#server.close(done));
  }

  async #take(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    request.on('error', () => {});
    response.on('error', () => {});
    const { remotePort } = request.socket;
    const tls = this.#sockets.findLast((known) => known.remotePort === remotePort);
    if (tls === undefined) return;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const url = new URL(request.url, this.url);
    const begin = (): void => void response.writeHead(200, { 'content-type': 'application/json' });
    const { CN } = tls.getPeerCertificate().subject ?? {};
    const scripted: ScriptedRequest = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      headersOf: (name) => request.rawHeaders.filter((_value, at, all) => at % 2 === 1 && all[at - 1]?.toLowerCase() === name),
      body: Buffer.concat(chunks).toString(),
      user: typeof CN === 'string' ? CN : undefined,
      http2: request.httpVersion === '2.0',
      connection: this.#sockets.indexOf(tls) + 1,
      answer: (status, body, headers = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      },
      begin,
      write: (bytes) => void response.write(bytes),
      end: () => void response.end(),
      cut: () => void tls.destroy(),
      closed: once(response, 'close'),
    };
    this.seen.push(`${scripted.method} ${request.url}`);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#unasked.push(scripted);
    else waiting(scripted);
  }
}
