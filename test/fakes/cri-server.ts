import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Subject } from 'rxjs';
import { grpcFrame } from '../../src/base/grpc/grpc-frame.ts';
import { type GrpcCode, grpcCodes } from '../../src/base/grpc/grpc-status.ts';

/** One call, to be answered. Without an answer it hangs. */
export interface CriCall<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> {
  readonly input: MessageShape<I>;
  /** Sends a message, and no status. */
  readonly send: (message: MessageInitShape<O>) => void;
  /** Sends bytes that may be no frame. */
  readonly sendBytes: (bytes: Buffer) => void;
  readonly end: (code?: GrpcCode, words?: string) => void;
  /** Ends the connection of this and all other calls. */
  readonly hangUp: () => void;
  /** Resolves once the caller has cancelled it. */
  readonly cancelled: Promise<void>;
}

/** A container runtime, or a plugin, of the test's own: gRPC on a socket, each method answered as the test says, others Unimplemented. */
export class CriServer implements AsyncDisposable {
  readonly endpoint: string;
  /** The calls, by the names of their methods. */
  readonly asked: { readonly method: string; readonly input: unknown }[] = [];
  readonly calls = new Subject<string>();
  /** How many connections were made so far whose other end knows that it speaks to gRPC. */
  met = 0;
  readonly #server: Http2Server;
  readonly #directory: string | undefined;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #answers = new Map<string, (body: Buffer, stream: ServerHttp2Stream) => void>();

  /** At a path that the test has, or in a directory of its own. */
  static async listen(path?: string): Promise<CriServer> {
    const directory = path === undefined ? await mkdtemp(join(tmpdir(), 'rxlet-cri-')) : undefined;
    const socket = path ?? join(directory ?? '', 'socket');
    const server = createServer();
    const cri = new CriServer(server, socket, directory);
    server.listen(socket);
    await once(server, 'listening');
    return cri;
  }

  private constructor(server: Http2Server, socket: string, directory: string | undefined) {
    this.#server = server;
    this.#directory = directory;
    this.endpoint = `unix://${socket}`;
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('localSettings', () => this.met++);
      session.once('close', () => this.#sessions.delete(session));
    });
    server.on('sessionError', () => {});
    server.on('stream', (stream, headers) => this.#take(stream, headers[':path'] ?? ''));
  }

  /** To this method from now on. */
  on<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { readonly input: I; readonly output: O },
    answer: (call: CriCall<I, O>) => void,
  ): this {
    this.#answers.set(method.name, (body, stream) => {
      const input = fromBinary(method.input, body.subarray(5));
      this.asked.push({ method: method.name, input });
      answer({
        input,
        send: (message) => stream.write(grpcFrame(toBinary(method.output, create(method.output, message)))),
        sendBytes: (bytes) => stream.write(bytes),
        end: (code = 'OK', words = '') => end(stream, code, words),
        hangUp: () => stream.session?.destroy(),
        cancelled: once(stream, 'aborted').then(() => {}),
      });
      this.calls.next(method.name);
    });
    return this;
  }

  /** As `on`, with one message. */
  answer<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { readonly input: I; readonly output: O },
    answer: (input: MessageShape<I>) => MessageInitShape<O>,
  ): this {
    return this.on(method, (call) => {
      call.send(answer(call.input));
      call.end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    this.#server.close();
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true, force: true });
  }

  #take(stream: ServerHttp2Stream, path: string): void {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const answer = this.#answers.get(path.slice(path.lastIndexOf('/') + 1));
      if (answer === undefined) end(stream, 'Unimplemented', `unknown method ${path}`);
      else answer(Buffer.concat(chunks), stream);
    });
  }
}

function end(stream: ServerHttp2Stream, code: GrpcCode, words: string): void {
  if (stream.destroyed) return;
  stream.on('wantTrailers', () => {
    stream.sendTrailers({ 'grpc-status': String(grpcCodes.findIndex((each) => each === code)), 'grpc-message': encodeURIComponent(words) });
  });
  stream.end();
}
