import { once } from 'node:events';
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { abortable } from '../abortable.ts';
import type { Clock } from '../clock.ts';
import { deadline } from '../deadline.ts';
import { errorText } from '../error-text.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { GrpcError } from './grpc-error.ts';
import { GrpcFrameError, GrpcFrames, grpcFrame } from './grpc-frame.ts';
import { type GrpcStatus, grpcTrailers, isGrpcContent } from './grpc-status.ts';
import { grpcTimeoutMs } from './grpc-timeout.ts';

/** The messages that answer a request, until the signal aborts. */
export type GrpcAnswer = (request: Buffer, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** What one connection has of the server. */
export interface GrpcPeer {
  calls: number;
  /** Of requests that are not whole yet, and of answers that are not taken yet. */
  heldBytes: number;
  /** Told when its last call has ended. */
  readonly idle: () => void;
}

export interface GrpcServed {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly peer: GrpcPeer;
  /** By path: "/v1beta1.Registration/Register". */
  readonly answers: ReadonlyMap<string, GrpcAnswer>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
  readonly maxMessageBytes: number;
  readonly closing: AbortSignal;
}

/** How long a client may take to send a request, or to take what there is of an answer. */
const PATIENCE_MS = 30_000;
const MOST_HELD_BYTES = 16 << 20;

/** Reads the request, answers, and ends the stream with a status. Never rejects. */
export async function serveGrpcCall(served: GrpcServed): Promise<void> {
  const { stream, headers, peer } = served;
  stream.on('error', () => {});
  const refusal = refused(headers);
  if (refusal !== undefined) {
    stream.respond({ ':status': refusal }, { endStream: true });
    stream.close();
    return;
  }
  peer.calls++;
  try {
    await new ServedCall(served).run();
  } catch {
    stream.destroy();
  } finally {
    if (--peer.calls === 0) peer.idle();
  }
}

/** What is no call of gRPC's gets the status of HTTP for it. */
function refused({ ':method': method, 'content-type': contentType }: IncomingHttpHeaders): number | undefined {
  if (method !== 'POST') return 405;
  return isGrpcContent(contentType) ? undefined : 415;
}

class ServedCall {
  readonly #served: GrpcServed;
  readonly #stream: ServerHttp2Stream;
  readonly #gone = new AbortController();
  #heldBytes = 0;

  constructor(served: GrpcServed) {
    this.#served = served;
    this.#stream = served.stream;
    const gone = (): void => this.#gone.abort(new GrpcError('', { code: 'Canceled', details: 'context canceled' }));
    this.#stream.once('close', gone);
    this.#stream.once('aborted', gone);
    if (this.#stream.destroyed) gone();
  }

  async run(): Promise<void> {
    const { headers, clock, closing } = this.#served;
    const timeout = headers['grpc-timeout'];
    const timeoutMs = timeout === undefined ? Infinity : grpcTimeoutMs([timeout].flat().join());
    const late = (): Error => new GrpcError('', { code: 'DeadlineExceeded', details: 'context deadline exceeded' });
    const stop = (): void => this.#gone.abort(closing.reason);
    closing.addEventListener('abort', stop);
    if (closing.aborted) stop();
    using within = deadline(clock, timeoutMs ?? Infinity, late, this.#gone.signal);
    let status: GrpcStatus = { code: 'OK', details: '' };
    try {
      if (timeoutMs === undefined) throw internal(`malformed grpc-timeout: ${String(timeout)}`);
      const answer = this.#answer();
      await this.#send(answer(await this.#request(within.signal), within.signal), within.signal);
    } catch (error) {
      status = statusOf(error);
    } finally {
      closing.removeEventListener('abort', stop);
      this.#hold(-this.#heldBytes);
    }
    await this.#end(status);
  }

  #answer(): GrpcAnswer {
    const { headers, answers } = this.#served;
    const path = headers[':path'] ?? '';
    const answer = answers.get(path);
    if (answer !== undefined) return answer;
    const [, service = '', method = ''] = /^\/(.*)\/([^/]*)$/.exec(path) ?? [];
    const known = [...answers.keys()].some((each) => each.startsWith(`/${service}/`));
    const details = known ? `unknown method ${method} for service ${service}` : `unknown service ${service}`;
    throw new GrpcError('', { code: 'Unimplemented', details });
  }

  /** The one message of which a request consists. */
  async #request(signal: AbortSignal): Promise<Buffer> {
    const { clock, maxMessageBytes } = this.#served;
    const late = (): Error => internal('the client did not send the whole request in time');
    using within = deadline(clock, PATIENCE_MS, late, signal);
    return await this.#message(new GrpcFrames(maxMessageBytes, 'the client'), within.signal);
  }

  async #message(frames: GrpcFrames, signal: AbortSignal): Promise<Buffer> {
    const stream = this.#stream;
    let only: Buffer | undefined;
    // Not by iteration: to leave one destroys the stream, and with it the answer.
    await abortable<void>(signal, (resolve, reject) => {
      const onData = (chunk: Buffer): void => {
        try {
          this.#hold(chunk.length);
          for (const message of frames.push(chunk)) {
            if (only !== undefined) throw internal('the client sent more than one message');
            only = message;
          }
        } catch (error) {
          reject(error);
        }
      };
      const onEnd = (): void => resolve();
      stream.on('data', onData);
      stream.on('end', onEnd);
      return () => {
        stream.off('data', onData);
        stream.off('end', onEnd);
      };
    });
    frames.end();
    if (only === undefined) throw internal('the client sent no message');
    return only;
  }

  async #send(messages: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const iterator = messages[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await unlessAborted(iterator.next(), signal);
        if (done === true) return;
        const frame = grpcFrame(value);
        this.#hold(frame.length);
        if (!this.#stream.headersSent) this.#respond();
        if (!this.#stream.write(frame)) await this.#taken(signal);
        this.#hold(-frame.length);
      }
    } finally {
      // What makes the messages may hang: nothing waits for it.
      void iterator.return?.()?.catch(() => {});
    }
  }

  async #taken(signal: AbortSignal): Promise<void> {
    const late = (): Error => internal('the client did not take the answer in time');
    using within = deadline(this.#served.clock, PATIENCE_MS, late, signal);
    try {
      await unlessAborted(once(this.#stream, 'drain', { signal: within.signal }), within.signal);
    } catch (error) {
      // It would not take a status either.
      if (within.missed) {
        this.#stream.close(constants.NGHTTP2_CANCEL);
        this.#stream.destroy();
      }
      throw error;
    }
  }

  #hold(bytes: number): void {
    const { peer } = this.#served;
    if (bytes > 0 && peer.heldBytes > 0 && peer.heldBytes + bytes > MOST_HELD_BYTES)
      throw new GrpcError('', { code: 'ResourceExhausted', details: 'the connection has too much under way that is not sent or taken' });
    peer.heldBytes += bytes;
    this.#heldBytes += bytes;
  }

  #respond(): void {
    this.#stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  }

  /** Resolves once the client has taken it, or has had its time. */
  async #end(status: GrpcStatus): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    const closed = once(stream, 'close').catch(() => {});
    using patience = deadline(this.#served.clock, PATIENCE_MS, 'the client', this.#gone.signal);
    const cut = (): void => void stream.destroy();
    patience.signal.addEventListener('abort', cut, { once: true });
    if (stream.headersSent) {
      stream.once('wantTrailers', () => stream.sendTrailers(grpcTrailers(status)));
      stream.end();
    } else {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...grpcTrailers(status) }, { endStream: true });
    }
    // What still comes of the request is not read: the client hears that it is not wanted.
    if (!stream.readableEnded) {
      stream.resume();
      stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
    }
    await closed;
    patience.signal.removeEventListener('abort', cut);
  }
}

const internal = (details: string): GrpcError => new GrpcError('', { code: 'Internal', details });

function statusOf(error: unknown): GrpcStatus {
  if (error instanceof GrpcError) return error;
  if (error instanceof GrpcFrameError) return { code: error.code, details: error.message };
  return { code: 'Unknown', details: errorText(error) };
}
