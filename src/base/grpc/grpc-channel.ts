import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '../clock.ts';
import { deadline } from '../deadline.ts';
import { version } from '../version.ts';
import { faultText, GrpcConnection, type GrpcSession, type GrpcTarget } from './grpc-connection.ts';
import { GrpcError } from './grpc-error.ts';
import { GrpcFrameError, GrpcFrames, grpcFrame } from './grpc-frame.ts';
import { type GrpcStatus, grpcStatusIn, grpcStatusOfHttp, isGrpcContent } from './grpc-status.ts';
import { grpcTimeout } from './grpc-timeout.ts';
import { stayConnected } from './stay-connected.ts';

export interface GrpcChannelOptions {
  readonly target: GrpcTarget;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
  /** The agent's name and version unless given. */
  readonly userAgent?: string;
  /** A larger message ends its call with ResourceExhausted. */
  readonly maxMessageBytes: number;
  /** In [0, 1); what the waits between attempts to connect differ by. */
  readonly random?: () => number;
  /** The server is there, or is no longer: see stayConnected. */
  readonly onChange?: (isConnected: boolean) => void;
}

export interface GrpcCallOptions {
  /** Every call has a deadline, streams too; the server is given it as well. */
  readonly timeoutMs: number;
  /** Of this call; the channel's unless given. */
  readonly maxMessageBytes?: number;
}

/**
 * gRPC over one HTTP/2 connection, in the clear, to a server on this machine or in a pod. It is made with the first call and made again once it
 * is lost. Calls run side by side. Each ends by its answer, its deadline, its signal or a broken connection.
 */
export class GrpcChannel {
  readonly #options: GrpcChannelOptions;
  readonly #connection: GrpcConnection;

  constructor(options: GrpcChannelOptions) {
    this.#options = options;
    this.#connection = new GrpcConnection(options.target, options.clock, options.random, options.onChange);
  }

  /**
   * The messages that answer `message`, with the back-pressure of who iterates; "/grpc.health.v1.Health/Check" is a method. Throws GrpcError,
   * or the signal's reason. Breaking off the iteration cancels the call.
   */
  async *stream(method: string, message: Uint8Array, options: GrpcCallOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
    signal.throwIfAborted();
    const { clock, userAgent = `rxlet/${version()}` } = this.#options;
    const { timeoutMs, maxMessageBytes = this.#options.maxMessageBytes } = options;
    const what = method.slice(method.lastIndexOf('/') + 1);
    const session = this.#session(what);
    const late = (): Error => {
      const details = `no answer within ${timeoutMs / 1000} s`;
      return new GrpcError(what, { code: 'DeadlineExceeded', details }, { connected: session.connected });
    };
    using within = deadline(clock, timeoutMs, late, signal);
    const call = session.request({
      ':method': 'POST',
      ':path': method,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': userAgent,
      'grpc-timeout': grpcTimeout(timeoutMs),
    });
    const answer = new Answer(call);
    const stop = (): void => cancel(call);
    within.signal.addEventListener('abort', stop, { once: true });
    const frames = new GrpcFrames(maxMessageBytes);
    try {
      call.end(grpcFrame(message));
      for await (const chunk of call) yield* frames.push(chunk as Buffer);
      if (answer.status === undefined) frames.end();
      const status = answer.status ?? answer.withoutStatus();
      if (within.signal.aborted) throw within.signal.reason;
      if (status.code !== 'OK') throw new GrpcError(what, status, session);
      frames.end();
    } catch (error) {
      if (within.signal.aborted) throw within.signal.reason;
      throw this.#classified(what, error, session, answer);
    } finally {
      within.signal.removeEventListener('abort', stop);
      cancel(call);
    }
  }

  /** The one message that answers. As `stream`; none or several are Internal. */
  async unary(method: string, message: Uint8Array, options: GrpcCallOptions, signal: AbortSignal): Promise<Buffer> {
    let only: Buffer | undefined;
    const internal = (details: string): GrpcError =>
      new GrpcError(method.slice(method.lastIndexOf('/') + 1), { code: 'Internal', details });
    for await (const each of this.stream(method, message, options, signal)) {
      if (only !== undefined) throw internal('the server answered with more than one message');
      only = each;
    }
    if (only === undefined) throw internal('the server answered without a message');
    return only;
  }

  /** Connects without a call, and again when the connection is lost, until the signal aborts. Never rejects. */
  stayConnected(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void> {
    return stayConnected(this.#connection, { clock, random: this.#options.random }, signal);
  }

  /** Ends all calls, and refuses others. */
  close(): void {
    this.#connection.close();
  }

  #session(what: string): GrpcSession {
    try {
      return this.#connection.session();
    } catch (cause) {
      throw new GrpcError(what, { code: 'Unavailable', details: faultText(cause) }, { connected: false, cause });
    }
  }

  #classified(what: string, error: unknown, session: GrpcSession, answer: Answer): Error {
    if (error instanceof GrpcError) return error;
    const { connected } = session;
    if (error instanceof GrpcFrameError)
      return new GrpcError(what, { code: error.code, details: error.message }, { connected, cause: error });
    // What the server said before the stream broke is its answer.
    if (answer.status !== undefined && answer.status.code !== 'OK') return new GrpcError(what, answer.status, { connected });
    if (answer.refused !== undefined) return new GrpcError(what, answer.refused, { connected });
    const cause = session.fault ?? error;
    return new GrpcError(what, { code: 'Unavailable', details: faultText(cause) }, { connected, cause });
  }
}

/** What the headers and trailers of an answer say. */
class Answer {
  status: GrpcStatus | undefined;
  /** Set when it is no answer of gRPC's: none of it is read. */
  refused: GrpcStatus | undefined;
  #httpStatus = 0;
  #contentType: string | undefined;

  constructor(call: ClientHttp2Stream) {
    const note = (headers: IncomingHttpHeaders): void => {
      this.status ??= grpcStatusIn(headers);
    };
    call.on('response', (headers) => {
      this.#httpStatus = headers[':status'] ?? 0;
      this.#contentType = headers['content-type'];
      note(headers);
      if (this.status !== undefined || (this.#httpStatus === 200 && isGrpcContent(this.#contentType))) return;
      this.refused = this.withoutStatus();
      cancel(call);
    });
    call.on('trailers', note);
    // Who iterates hears of it.
    call.on('error', () => {});
  }

  withoutStatus(): GrpcStatus {
    // The connection, or the stream, ended before anything was said.
    if (this.#httpStatus === 0) return { code: 'Unavailable', details: 'the connection was closed before an answer' };
    return this.refused ?? grpcStatusOfHttp(this.#httpStatus, this.#contentType);
  }
}

function cancel(call: ClientHttp2Stream): void {
  if (call.destroyed) return;
  if (!call.closed) call.close(constants.NGHTTP2_CANCEL);
  call.destroy();
}
