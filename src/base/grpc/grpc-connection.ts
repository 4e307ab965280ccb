import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { Clock } from '../clock.ts';
import { errorText } from '../error-text.ts';
import { exponential } from '../exponential.ts';
import { jitter } from '../jitter.ts';

export type GrpcTarget = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** After an attempt that failed the next is made no sooner; calls in between fail at once, so that nothing queues up behind a server that is gone. */
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1000;
const retryMs = exponential(FIRST_RETRY_MS, LAST_RETRY_MS);

/** A session to ask on, with what has become of it. */
export interface GrpcSession {
  /** Whether the peer has shown that it speaks HTTP/2. */
  readonly connected: boolean;
  /** Why it ended before its time. */
  readonly fault: Error | undefined;
  /** Resolves once it takes no more calls: it has ended or is ending. Those that are under way may go on. */
  readonly over: Promise<void>;
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream;
  /** Ends it, with its calls. */
  end(fault: Error): void;
}

interface Http2GrpcSession extends GrpcSession {
  readonly http2: ClientHttp2Session;
}

/** One HTTP/2 connection, in the clear, which is made when it is first asked for and made again when it has ended or is ending (GOAWAY). */
export class GrpcConnection {
  readonly #target: GrpcTarget;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #random: (() => number) | undefined;
  readonly #onChange: (isConnected: boolean) => void;
  #session: Http2GrpcSession | undefined;
  /** With those that are ending, of which calls may still be under way. */
  readonly #open = new Set<ClientHttp2Session>();
  /** Those of them that take calls, of a peer that has shown that it speaks HTTP/2. */
  readonly #ready = new Set<ClientHttp2Session>();
  #failures = 0;
  #retryAtMs = -Infinity;
  #lastFault: Error | undefined;
  #closed = false;

  /** `onChange`: a peer takes calls, or there is none any more that does. */
  constructor(
    target: GrpcTarget,
    clock: Pick<Clock, 'monotonicMs'>,
    random?: () => number,
    onChange: (isConnected: boolean) => void = () => {},
  ) {
    this.#target = target;
    this.#clock = clock;
    this.#random = random;
    this.#onChange = onChange;
  }

  /** Throws the last fault while it is too early to try again, and where this is closed. */
  session(): GrpcSession {
    if (this.#closed) throw new Error('the client is closed');
    const { http2 } = this.#session ?? {};
    if (this.#session !== undefined && http2 !== undefined && !http2.closed && !http2.destroyed) return this.#session;
    if (this.#lastFault !== undefined && this.#clock.monotonicMs() < this.#retryAtMs) throw this.#lastFault;
    return (this.#session = this.#connect());
  }

  /** Ends all calls. */
  close(): void {
    this.#closed = true;
    for (const http2 of this.#open) http2.destroy();
  }

  #connect(): Http2GrpcSession {
    const socket = 'socketPath' in this.#target ? connectSocket(this.#target.socketPath) : connectSocket(this.#target);
    const authority = 'socketPath' in this.#target ? 'localhost' : authorityOf(this.#target);
    const http2 = connectHttp2(`http://${authority}`, { createConnection: () => socket, settings: { enablePush: false } });
    this.#open.add(http2);
    const { promise: over, resolve: isOver } = Promise.withResolvers<void>();
    const calls = new Set<ClientHttp2Stream>();
    let isEnding = false;
    const endIfDone = (): void => {
      if (isEnding && calls.size === 0) http2.destroy();
    };
    const session = {
      http2,
      connected: false,
      fault: undefined as Error | undefined,
      over,
      request: (headers: OutgoingHttpHeaders): ClientHttp2Stream => {
        const call = http2.request(headers);
        calls.add(call);
        call.once('close', () => {
          calls.delete(call);
          endIfDone();
        });
        return call;
      },
      end: (fault: Error): void => http2.destroy(fault),
    };
    http2.once('remoteSettings', () => {
      session.connected = true;
      this.#failures = 0;
      this.#lastFault = undefined;
      if (!isEnding) this.#isReady(http2);
    });
    // The calls that it takes along say so.
    http2.on('error', (error) => (session.fault ??= error));
    // What is under way may end; what comes next takes another. The peer may leave it to us to hang up.
    http2.on('goaway', (_code, lastTaken) => {
      isEnding = true;
      if (this.#session === session) this.#session = undefined;
      this.#isOver(http2);
      isOver();
      // Those that still wait for their turn would do so until their deadline.
      for (const call of calls) if ((call.id ?? Infinity) > lastTaken) call.destroy();
      endIfDone();
    });
    http2.once('close', () => {
      this.#open.delete(http2);
      session.fault ??= new Error('the connection was closed');
      this.#isOver(http2);
      isOver();
      if (session.connected) return;
      this.#failures++;
      this.#lastFault = session.fault;
      this.#retryAtMs = this.#clock.monotonicMs() + jitter(retryMs(this.#failures), 0.2, this.#random);
    });
    return session;
  }

  #isReady(http2: ClientHttp2Session): void {
    this.#ready.add(http2);
    if (this.#ready.size === 1) this.#onChange(true);
  }

  #isOver(http2: ClientHttp2Session): void {
    if (this.#ready.delete(http2) && this.#ready.size === 0) this.#onChange(false);
  }
}

/** Where the target is, for people: "unix:///run/containerd/containerd.sock", "10.0.0.1:80". */
export function grpcTargetText(target: GrpcTarget): string {
  return 'socketPath' in target ? `unix://${target.socketPath}` : authorityOf(target);
}

function authorityOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Why a session ended, without what HTTP/2 wraps it in. */
export function faultText(error: unknown): string {
  return errorText(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
