import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { errorText } from '../error-text.ts';
import { listenOnSocket } from '../listen-on-socket.ts';
import { GrpcError } from './grpc-error.ts';
import { type GrpcAnswer, type GrpcPeer, serveGrpcCall } from './grpc-server-call.ts';

/** As grpc-go (defaultServerMaxReceiveMessageSize). */
const MAX_MESSAGE_BYTES = 4 << 20;
const MAX_CONNECTIONS = 64;
const MAX_STREAMS = 100;

export interface GrpcServerOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
  /** A larger message ends its call with ResourceExhausted. 4 MiB unless given. */
  readonly maxMessageBytes?: number;
  /** One more takes the place of that which has had no call for longest; where all have one, it is refused. 64 unless given. */
  readonly maxConnections?: number;
  /** Calls at one time on one connection; more are refused by HTTP/2. 100 unless given. */
  readonly maxStreams?: number;
}

/** One call. Its signal aborts with its deadline, when the client cancels it or is gone, and when the server closes. */
export interface GrpcServerCall {
  readonly signal: AbortSignal;
}

/**
 * The methods that protocol files describe, served over HTTP/2 in the clear on a Unix socket. A handler that rejects with GrpcError gives its
 * code and details as the status, any other error is Unknown with its text, as in grpc-go; a method that has none is Unimplemented. A client that
 * sends or takes nothing, or too much, loses its own calls and at last its connection; no more than one message of each call is held, and no
 * more than 16 MiB for a connection.
 */
export class GrpcServer implements AsyncDisposable {
  readonly #options: GrpcServerOptions;
  readonly #answers = new Map<string, GrpcAnswer>();
  readonly #peers = new Map<ServerHttp2Session, GrpcPeer>();
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  readonly #server: Http2Server;
  #remove: (() => Promise<void>) | undefined;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    const { clock, maxMessageBytes = MAX_MESSAGE_BYTES, maxStreams = MAX_STREAMS } = options;
    const settings = { maxConcurrentStreams: maxStreams, enablePush: false };
    const server = createServer({ settings, maxSessionMemory: 32 });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('session', (session) => this.#took(session));
    server.on('sessionError', () => {});
    server.on('stream', (stream, headers) => {
      const { session } = stream;
      const peer = session === undefined ? undefined : this.#peers.get(session as ServerHttp2Session);
      if (peer === undefined) stream.destroy();
      else void serveGrpcCall({ stream, headers, peer, answers: this.#answers, clock, maxMessageBytes, closing: this.#closing.signal });
    });
    this.#server = server;
  }

  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    handler: (input: MessageShape<I>, call: GrpcServerCall) => MessageInitShape<O> | Promise<MessageInitShape<O>>,
  ): this {
    return this.#on(method, async function* (body, signal) {
      yield encoded(method.output, await handler(decoded(method, body), { signal }));
    });
  }

  /** What the handler iterates is sent as fast as the client takes it. When the call ends the iteration is broken off. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    handler: (input: MessageShape<I>, call: GrpcServerCall) => AsyncIterable<MessageInitShape<O>>,
  ): this {
    return this.#on(method, async function* (body, signal) {
      for await (const message of handler(decoded(method, body), { signal })) yield encoded(method.output, message);
    });
  }

  /** Resolves once it accepts connections; the directory has to be there. Rejects as listenOnSocket does. */
  async listen(socketPath: string, mode: number): Promise<void> {
    this.#remove = await listenOnSocket(this.#server, socketPath, mode);
  }

  /** Serves on a connection that was accepted elsewhere: what has come on it waits in the socket, unread. */
  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Breaks off all calls, and removes the socket. */
  async close(): Promise<void> {
    this.#closing.abort(new GrpcError('', { code: 'Unavailable', details: 'the server is closing' }));
    await this.#remove?.();
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    for (const session of this.#peers.keys()) session.destroy();
    // A session waits for a client that takes nothing.
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #on({ parent, name }: { readonly parent: { readonly typeName: string }; readonly name: string }, answer: GrpcAnswer): this {
    this.#answers.set(`/${parent.typeName}/${name}`, answer);
    return this;
  }

  #took(session: ServerHttp2Session): void {
    session.on('error', () => {});
    const { maxConnections = MAX_CONNECTIONS } = this.#options;
    if (this.#peers.size >= maxConnections) {
      const [idle] = [...this.#peers].find(([, { calls }]) => calls === 0) ?? [session];
      this.#peers.delete(idle);
      idle.destroy();
      if (idle === session) return;
    }
    const peer: GrpcPeer = { calls: 0, heldBytes: 0, idle: () => this.#idle(session, peer) };
    this.#peers.set(session, peer);
    session.once('close', () => this.#peers.delete(session));
  }

  /** It goes to the end of those that may give way. */
  #idle(session: ServerHttp2Session, peer: GrpcPeer): void {
    if (this.#peers.delete(session)) this.#peers.set(session, peer);
  }
}

function decoded<I extends DescMessage>({ input }: { readonly input: I }, body: Uint8Array): MessageShape<I> {
  try {
    return fromBinary(input, body);
  } catch (cause) {
    const details = `grpc: error unmarshalling request: ${errorText(cause)}`;
    throw new GrpcError('', { code: 'Internal', details }, { connected: true, cause });
  }
}

function encoded<O extends DescMessage>(type: O, output: MessageInitShape<O>): Uint8Array {
  return toBinary(type, create(type, output));
}
