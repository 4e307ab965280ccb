import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { FLAG_FIN, FrameType, GoAwayStatus, ResetStatus, type SpdyFrame, pingFrame, resetFrame, synReplyFrame } from './spdy-frame.ts';
import { SpdyProtocolError } from './spdy-frame-reader.ts';
import type { SpdyHeaders } from './spdy-header-block.ts';
import { SpdyLink, wordAt } from './spdy-link.ts';
import { SpdyStream, type SpdyStreamOutlet } from './spdy-stream.ts';

export interface SpdyConnectionOptions {
  /** Whether a stream that the peer wants to open, with these headers, may be: else it is reset. Must not throw. */
  readonly accepts: (headers: SpdyHeaders) => boolean;
  /** A stream is open. Must not throw. */
  readonly onStream: (stream: SpdyStream) => void;
  /** Streams open at a time; more are refused. */
  readonly maxStreams: number;
  /** What one stream keeps unread before the whole connection waits: SPDY as Kubernetes speaks it has no windows. */
  readonly streamBufferBytes: number;
  /** The connection ends when no frame came or went for so long. 0: never. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The server's end of a SPDY/3.1 connection: Kubernetes' clients open all streams. See SpdyLink. */
export class SpdyConnection implements SpdyStreamOutlet {
  readonly #link: SpdyLink;
  readonly #options: SpdyConnectionOptions;
  readonly #streams = new Map<number, SpdyStream>();
  #lastStreamId = 0;

  /** `head` is what the HTTP parser has read of it already. The connection lives until `close`, or until it aborts `over`. */
  constructor(socket: Duplex, head: Buffer, options: SpdyConnectionOptions) {
    this.#options = options;
    const end = {
      onData: (frame: Extract<SpdyFrame, { kind: 'data' }>) => this.#handleData(frame),
      onControl: (type: number, flags: number, body: Buffer) => this.#handleControl(type, flags, body),
      onTrouble: (reason: string, status: GoAwayStatus) => this.#inTrouble(reason, status),
      onOver: () => this.#forgetAll(),
    };
    this.#link = new SpdyLink(socket, head, end, options);
    this.#link.start();
  }

  /** Aborts when the connection is over: closed by either side, idle, broken. The reason says which. */
  get over(): AbortSignal {
    return this.#link.over;
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /** What is kept in memory for this connection: what came and was not read, what goes and was not sent. */
  get bufferedBytes(): number {
    let unread = 0;
    for (const stream of this.#streams.values()) unread += stream.readableLength;
    return unread + this.#link.bufferedBytes;
  }

  /** Resets the streams that are open, says goodbye and closes the socket. Resolves when that is closed. */
  close(reason = 'closed', status: GoAwayStatus = GoAwayStatus.OK): Promise<void> {
    if (!this.over.aborted) for (const stream of this.#streams.values()) stream.destroy();
    return this.#link.close(reason, this.#lastStreamId, status);
  }

  sendData(streamId: number, bytes: Buffer, fin: boolean): Promise<void> | undefined {
    return this.#link.sendData(streamId, bytes, fin);
  }

  forget(streamId: number, status: ResetStatus | undefined): void {
    if (this.#streams.delete(streamId) && status !== undefined) void this.#link.send(resetFrame(streamId, status));
  }

  #handleData({ streamId, bytes, fin }: Extract<SpdyFrame, { kind: 'data' }>): Promise<void> | undefined {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) {
      // For a stream that we have reset, it was on its way; one that never was is an error of the peer's.
      if (streamId <= this.#lastStreamId) return undefined;
      return this.#link.send(resetFrame(streamId, ResetStatus.INVALID_STREAM));
    }
    const room = stream.accept(bytes);
    if (fin) stream.acceptEnd();
    return room;
  }

  #handleControl(type: number, flags: number, body: Buffer): Promise<void> | undefined {
    switch (type) {
      case FrameType.SYN_STREAM:
        return this.#openStream(wordAt(body, 0) & 0x7fffffff, flags, body.subarray(10));
      case FrameType.SYN_REPLY:
      case FrameType.HEADERS:
        wordAt(body, 0);
        // Of no use here, but part of the compression's state.
        return this.#link.unpack(body.subarray(4)).then(() => {});
      case FrameType.RST_STREAM:
        wordAt(body, 4);
        this.#streams.get(wordAt(body, 0))?.acceptReset();
        return undefined;
      case FrameType.PING:
        // Even numbers would be answers to ours, and we send none.
        return wordAt(body, 0) % 2 === 1 ? this.#link.send(pingFrame(wordAt(body, 0))) : undefined;
      case FrameType.GOAWAY:
        // Kubernetes' clients send it when they leave, and read no more.
        void this.close('client has gone away');
        return undefined;
      default:
        // SETTINGS, WINDOW_UPDATE, and what later versions may bring.
        return undefined;
    }
  }

  async #openStream(id: number, flags: number, headerBlock: Buffer): Promise<void> {
    const headers = await this.#link.unpack(headerBlock);
    if (this.over.aborted) return;
    if (id === 0) throw new SpdyProtocolError('stream 0');
    if (id % 2 === 0 || id <= this.#lastStreamId) return this.#link.send(resetFrame(id, ResetStatus.PROTOCOL_ERROR));
    this.#lastStreamId = id;
    const { maxStreams, streamBufferBytes, accepts, onStream } = this.#options;
    if (this.#streams.size >= maxStreams || !accepts(headers)) return this.#link.send(resetFrame(id, ResetStatus.REFUSED_STREAM));
    const stream = new SpdyStream(this, id, headers, streamBufferBytes);
    this.#streams.set(id, stream);
    if ((flags & FLAG_FIN) !== 0) stream.acceptEnd();
    // First of all: clients drop what comes before it, and some send nothing until it came.
    void this.#link.send(synReplyFrame(id, this.#link.pack(new Map())));
    onStream(stream);
    return this.#link.room();
  }

  #inTrouble(reason: string, status: GoAwayStatus): void {
    if (status === GoAwayStatus.PROTOCOL_ERROR) this.#options.log.v(2, 'malformed SPDY connection closed', { error: reason });
    void this.close(reason, status);
  }

  #forgetAll(): void {
    for (const stream of this.#streams.values()) stream.acceptReset();
    this.#streams.clear();
  }
}
