import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { abortable } from '../base/abortable.ts';
import type { CollectorAddress } from './collector-address.ts';

/** The server's own refusal. `code`: one of gRPC's (grpc.io/docs/guides/status-codes). */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message === '' ? `gRPC status ${code}` : `${message} (gRPC status ${code})`);
    this.code = code;
  }
}

/** What a call to a method that answers little may answer with. */
const MOST_ANSWER_BYTES = 64 * 1024;
/** Messages come from elsewhere. */
const MOST_MESSAGE = 512;

/** Unary gRPC calls in the clear, over one connection at a time, which is dialled when there is something to say. */
export class GrpcChannel {
  readonly #address: CollectorAddress;
  readonly #userAgent: string;
  #session: ClientHttp2Session | undefined;

  constructor(address: CollectorAddress, userAgent: string) {
    this.#address = address;
    this.#userAgent = userAgent;
  }

  /** Resolves when the server has answered that it is well; what it answers besides is not looked at. Rejects with GrpcError, or with what broke or ended it. */
  call(path: string, message: Uint8Array, signal: AbortSignal): Promise<void> {
    const { authority, session } = this.#connected();
    return abortable(signal, (resolve, reject) => {
      const broken = (error: Error): void => reject(new Error(`${authority}: ${causeOf(error).message}`, { cause: causeOf(error) }));
      session.once('error', broken);
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        'user-agent': this.#userAgent,
      });
      let bytes = 0;
      let httpStatus = 0;
      let status: { readonly code: number; readonly message: string } | undefined;
      const note = (headers: IncomingHttpHeaders): void => {
        if (headers['grpc-status'] === undefined) return;
        status = { code: Number(headers['grpc-status']), message: unescaped([headers['grpc-message'] ?? ''].flat().join()) };
      };
      stream.on('response', (headers) => {
        httpStatus = headers[':status'] ?? 0;
        note(headers);
      });
      stream.on('trailers', note);
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MOST_ANSWER_BYTES) broken(new Error(`the answer is longer than ${MOST_ANSWER_BYTES} bytes`));
      });
      stream.on('error', broken);
      stream.once('close', () => {
        if (status === undefined) broken(new Error(`no gRPC server: HTTP status ${httpStatus}`));
        else if (status.code === 0) resolve();
        else reject(new GrpcError(status.code, `${authority}: ${status.message}`));
      });
      stream.end(framed(message));
      return () => {
        session.off('error', broken);
        if (!stream.closed) stream.destroy();
      };
    });
  }

  /** Ends the connection; the next call dials again. */
  close(): void {
    this.#session?.destroy();
    this.#session = undefined;
  }

  #connected(): { readonly authority: string; readonly session: ClientHttp2Session } {
    const address = this.#address;
    const authority =
      'host' in address ? `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}` : 'localhost';
    let session = this.#session;
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(`http://${authority}`, {
        createConnection: () => ('host' in address ? connectSocket(address) : connectSocket(address.socketPath)),
        maxSessionMemory: 1,
      });
      // The calls say what is wrong.
      session.on('error', () => {});
      this.#session = session;
    }
    return { authority: 'host' in address ? authority : address.socketPath.replace('\0', '@'), session };
  }
}

/** Node reports the connection's own error as the cause of the call's. */
function causeOf(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

/** Not compressed, and its length. */
function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

/** gRPC escapes its messages like a URL. */
function unescaped(message: string): string {
  const bytes = message
    .slice(0, MOST_MESSAGE)
    .replace(/%([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
