import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { abortable } from '../abortable.ts';
import type { Clock } from '../clock.ts';
import { FLAG_FIN, FrameType, GoAwayStatus, ResetStatus, type SpdyFrame, pingFrame, resetFrame, synStreamFrame } from './spdy-frame.ts';
import { SpdyLink, wordAt } from './spdy-link.ts';
import { SpdyStream, type SpdyStreamOutlet } from './spdy-stream.ts';

export interface SpdyClientOptions {
  /** What one stream keeps unread before the whole connection waits. */
  readonly streamBufferBytes: number;
  readonly clock: Clock;
}

/** Why the server reset a stream, as far as its number says (SPDY/3.1, section 2.4.2). */
const resetWords: Readonly<Record<number, string>> = {
  1: 'protocol error',
  2: 'no such stream',
  3: 'refused',
  4: 'version not supported',
  5: 'cancelled',
  6: 'internal error',
};

/**
 * The client's end of a SPDY/3.1 connection: it opens all streams. A server of Kubernetes' kind says all that it has to say, resets the streams
 * and closes: so a reset, or the connection's end, is the end of a stream, and what came before it may still be read. See SpdyLink.
 */
export class SpdyClient implements SpdyStreamOutlet {
  readonly #link: SpdyLink;
  readonly #options: SpdyClientOptions;
  readonly #streams = new Map<number, SpdyStream>();
  /** Streams that the server has not answered for. */
  readonly #opening = new Map<number, { readonly resolve: () => void; readonly reject: (error: Error) => void }>();
  #lastStreamId = -1;
  /** Nothing more is read before the headers of the last answer are unpacked. */
  #isRead = Promise.resolve();

  /** `head` is what the HTTP parser has read of it already. The connection lives until `close`, or until it aborts `over`. */
  constructor(socket: Duplex, head: Buffer, options: SpdyClientOptions) {
    this.#options = options;
    const end = {
      onData: (frame: Extract<SpdyFrame, { kind: 'data' }>) => this.#handleData(frame),
      onControl: (type: number, flags: number, body: Buffer) => this.#handleControl(type, flags, body),
      onTrouble: (reason: string, status: GoAwayStatus) => void this.#link.close(reason, 0, status),
      onOver: () => this.#endAll(),
    };
    // A session may say nothing for days.
    this.#link = new SpdyLink(socket, head, end, { clock: options.clock, idleTimeoutMs: 0 });
    this.#link.start();
  }

  /** Aborts when the connection is over: closed by either side, or broken. The reason says which. */
  get over(): AbortSignal {
    return this.#link.over;
  }

  /** Resolves once the server has answered. Rejects where it refuses, with why the connection is over, or the signal's reason. */
  async open(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<SpdyStream> {
    signal.throwIfAborted();
    this.over.throwIfAborted();
    this.#lastStreamId += 2;
    const id = this.#lastStreamId;
    const wanted = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const stream = new SpdyStream(this, id, wanted, this.#options.streamBufferBytes);
    this.#streams.set(id, stream);
    const answered = abortable<void>(signal, (resolve, reject) => {
      this.#opening.set(id, { resolve, reject });
      return (aborted) => {
        this.#opening.delete(id);
        if (aborted) stream.destroy();
      };
    });
    void this.#link.send(synStreamFrame(id, this.#link.pack(wanted)));
    await answered;
    return stream;
  }

  /** Resets the streams that are open, says goodbye and closes the socket. Resolves when that is closed, whatever the server does. */
  close(): Promise<void> {
    if (!this.over.aborted) for (const stream of this.#streams.values()) stream.destroy();
    return this.leave();
  }

  /** The same once the server has said all: what has come of each stream may still be read. */
  leave(): Promise<void> {
    return this.#link.close('closed', 0, GoAwayStatus.OK);
  }

  /** What the server has said meanwhile is read first: writing to a connection that it has closed loses its last words, with how a command ended. */
  async sendData(streamId: number, bytes: Buffer, fin: boolean): Promise<void> {
    await this.#isRead;
    // The second one comes after a look at all sockets.
    await setImmediate();
    await setImmediate();
    await this.#link.sendData(streamId, bytes, fin);
  }

  forget(streamId: number, status: ResetStatus | undefined): void {
    if (this.#streams.delete(streamId) && status !== undefined) void this.#link.send(resetFrame(streamId, status));
  }

  #handleData({ streamId, bytes, fin }: Extract<SpdyFrame, { kind: 'data' }>): Promise<void> | undefined {
    if (this.#opening.has(streamId)) {
      this.#refuse(streamId);
      return undefined;
    }
    // What is on its way to a stream that we have reset is dropped.
    const stream = this.#streams.get(streamId);
    const room = stream?.accept(bytes);
    if (fin) stream?.acceptEnd();
    return room;
  }

  #handleControl(type: number, flags: number, body: Buffer): Promise<void> | undefined {
    switch (type) {
      case FrameType.SYN_REPLY:
        return this.#opened(wordAt(body, 0), flags, body.subarray(4));
      case FrameType.HEADERS:
        wordAt(body, 0);
        return this.#link.unpack(body.subarray(4)).then(() => {});
      case FrameType.SYN_STREAM:
        // A server of this kind opens none.
        return this.#link.unpack(body.subarray(10)).then(() => this.#link.send(resetFrame(wordAt(body, 0), ResetStatus.REFUSED_STREAM)));
      case FrameType.RST_STREAM:
        this.#reset(wordAt(body, 0), wordAt(body, 4));
        return undefined;
      case FrameType.PING:
        // Odd numbers would be answers to ours, and we send none.
        return wordAt(body, 0) % 2 === 0 ? this.#link.send(pingFrame(wordAt(body, 0))) : undefined;
      case FrameType.GOAWAY:
        void this.#link.close('the server has gone away', 0, GoAwayStatus.OK);
        return undefined;
      default:
        // SETTINGS, WINDOW_UPDATE, and what later versions may bring.
        return undefined;
    }
  }

  async #opened(id: number, flags: number, headerBlock: Buffer): Promise<void> {
    // Its headers say nothing of use.
    this.#answered(id)?.resolve();
    if ((flags & FLAG_FIN) !== 0) this.#streams.get(id)?.acceptEnd();
    const unpacked = this.#link.unpack(headerBlock);
    this.#isRead = unpacked.then(() => {}).catch(() => {});
    await unpacked;
  }

  #reset(id: number, status: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    stream?.acceptClose();
    this.#answered(id)?.reject(new Error(`the server reset the stream: ${resetWords[status] ?? `status ${status}`}`));
  }

  /** Data of a stream that is not open yet would hold up all that comes after it, the answer too (SPDY/3.1, section 2.3.2: a protocol error). */
  #refuse(id: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    void this.#link.send(resetFrame(id, ResetStatus.PROTOCOL_ERROR));
    stream?.destroy();
    this.#answered(id)?.reject(new Error('the server sent data of the stream before it answered for it'));
  }

  /** The call of `open` that the server has answered now. */
  #answered(id: number): { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined {
    const opening = this.#opening.get(id);
    this.#opening.delete(id);
    return opening;
  }

  #endAll(): void {
    // What a slow reader held up is still what the server said.
    for (const frame of this.#link.unread()) {
      if (frame.kind === 'data') void this.#handleData(frame);
      else if (frame.type === FrameType.SYN_REPLY && frame.body.length >= 4) this.#answered(wordAt(frame.body, 0))?.resolve();
    }
    for (const stream of this.#streams.values()) stream.acceptClose();
    this.#streams.clear();
    const { reason } = this.over;
    for (const { reject } of this.#opening.values()) reject(reason instanceof Error ? reason : new Error(String(reason)));
  }
}
