import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { errorText } from '../error-text.ts';
import type { Logger } from '../logger.ts';
import { closeSocket } from '../close-socket.ts';
import { IdleTimer } from './idle-timer.ts';
import {
  FLAG_FIN,
  FrameType,
  GoAwayStatus,
  ResetStatus,
  type SpdyFrame,
  dataFrameHead,
  goAwayFrame,
  pingFrame,
  resetFrame,
  synReplyFrame,
} from './spdy-frame.ts';
import { SpdyFrameReader, SpdyProtocolError } from './spdy-frame-reader.ts';
import { HeaderInflater, HeaderPacker, type SpdyHeaders } from './spdy-header-block.ts';
import { SpdyStream, type SpdyStreamOutlet } from './spdy-stream.ts';
import { WriteGate } from './write-gate.ts';

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

/**
 * The server's end of a SPDY/3.1 connection as Kubernetes' clients speak it (github.com/moby/spdystream): they open all streams, and
 * there is no flow control but the socket's own. One slow stream holds up its neighbours on the same connection, as it does there.
 *
 * INVARIANTS: frames are handled one after the other, as header blocks share one state; while one waits, the socket is paused. What the
 * peer makes us say, it must read: with too much unsent, no frame is handled. A malformed frame ends the connection.
 */
export class SpdyConnection implements SpdyStreamOutlet {
  /** Aborts when the connection is over: closed by either side, idle, broken. The reason says which. */
  readonly over: AbortSignal;
  readonly #over = new AbortController();
  readonly #socket: Duplex;
  readonly #options: SpdyConnectionOptions;
  readonly #reader = new SpdyFrameReader();
  readonly #inflater = new HeaderInflater();
  readonly #packer = new HeaderPacker();
  readonly #gate: WriteGate;
  readonly #idle: IdleTimer;
  readonly #streams = new Map<number, SpdyStream>();
  #lastStreamId = 0;
  #waiting = false;
  #closing: Promise<void> | undefined;

  /** `head` is what the HTTP parser has read of it already. The connection lives until `close`, or until it aborts `over`. */
  constructor(socket: Duplex, head: Buffer, options: SpdyConnectionOptions) {
    this.over = this.#over.signal;
    this.#socket = socket;
    this.#options = options;
    this.#gate = new WriteGate(socket);
    this.#idle = new IdleTimer(options.clock, options.idleTimeoutMs, () => void this.close('idle for too long'));
    if (head.length > 0) socket.unshift(head);
    socket.on('error', this.#onError);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.on('data', this.#onData);
    if (socket.destroyed) this.#end('connection closed');
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /** What is kept in memory for this connection: what came and was not read, what goes and was not sent. */
  get bufferedBytes(): number {
    let unread = 0;
    for (const stream of this.#streams.values()) unread += stream.readableLength;
    return unread + this.#reader.bufferedBytes + this.#socket.readableLength + this.#socket.writableLength;
  }

  /** Resets the streams that are open, says goodbye and closes the socket. Resolves when that is closed. */
  close(reason = 'closed', status: GoAwayStatus = GoAwayStatus.OK): Promise<void> {
    this.#closing ??= this.#close(reason, status);
    return this.#closing;
  }

  sendData(streamId: number, bytes: Buffer, fin: boolean): Promise<void> | undefined {
    // What is written to a connection that is gone is lost, as on any socket.
    if (!this.#socket.writable) return undefined;
    this.#idle.touch();
    this.#socket.cork();
    this.#socket.write(dataFrameHead(streamId, bytes.length, fin));
    if (bytes.length > 0) this.#socket.write(bytes);
    this.#socket.uncork();
    return this.#gate.wait();
  }

  forget(streamId: number, status: ResetStatus | undefined): void {
    if (this.#streams.delete(streamId) && status !== undefined) this.#send(resetFrame(streamId, status));
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#reader.push(chunk);
    if (!this.#waiting) this.#readFrames();
  };

  readonly #onEnd = (): void => this.#end('connection closed');

  readonly #onError = (error: Error): void => this.#end(errorText(error));

  #readFrames(): void {
    try {
      while (!this.over.aborted) {
        const frame = this.#reader.next();
        if (frame === undefined) return;
        this.#idle.touch();
        const room =
          frame.kind === 'data' ? this.#handleData(frame) : (this.#handleControl(frame.type, frame.flags, frame.body) ?? this.#gate.wait());
        if (room !== undefined) {
          this.#waitFor(room);
          return;
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #waitFor(room: Promise<void>): void {
    this.#waiting = true;
    this.#socket.pause();
    room.then(
      () => {
        this.#waiting = false;
        if (this.over.aborted) return;
        this.#readFrames();
        if (!this.#waiting) this.#socket.resume();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #handleData({ streamId, bytes, fin }: Extract<SpdyFrame, { kind: 'data' }>): Promise<void> | undefined {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) {
      // For a stream that we have reset, it was on its way; one that never was is an error of the peer's.
      if (streamId <= this.#lastStreamId) return undefined;
      this.#send(resetFrame(streamId, ResetStatus.INVALID_STREAM));
      return this.#gate.wait();
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
        return this.#inflater.decode(body.subarray(4)).then(() => {});
      case FrameType.RST_STREAM:
        wordAt(body, 4);
        this.#streams.get(wordAt(body, 0))?.acceptReset();
        return undefined;
      case FrameType.PING:
        // Even numbers would be answers to ours, and we send none.
        if (wordAt(body, 0) % 2 === 1) this.#send(pingFrame(wordAt(body, 0)));
        return undefined;
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
    const headers = await this.#inflater.decode(headerBlock);
    if (this.over.aborted) return;
    if (id === 0) throw new SpdyProtocolError('stream 0');
    if (id % 2 === 0 || id <= this.#lastStreamId) {
      this.#send(resetFrame(id, ResetStatus.PROTOCOL_ERROR));
      return this.#gate.wait();
    }
    this.#lastStreamId = id;
    const { maxStreams, streamBufferBytes, accepts, onStream } = this.#options;
    if (this.#streams.size >= maxStreams || !accepts(headers)) {
      this.#send(resetFrame(id, ResetStatus.REFUSED_STREAM));
      return this.#gate.wait();
    }
    const stream = new SpdyStream(this, id, headers, streamBufferBytes);
    this.#streams.set(id, stream);
    if ((flags & FLAG_FIN) !== 0) stream.acceptEnd();
    // First of all: clients drop what comes before it, and some send nothing until it came.
    this.#send(synReplyFrame(id, this.#packer.encode(new Map())));
    onStream(stream);
    return this.#gate.wait();
  }

  #send(frame: Buffer): void {
    if (!this.#socket.writable) return;
    this.#idle.touch();
    this.#socket.write(frame);
  }

  #fail(error: unknown): void {
    this.#options.log.v(2, 'malformed SPDY connection closed', { error });
    void this.close(errorText(error), GoAwayStatus.PROTOCOL_ERROR);
  }

  /** Without a word to the peer: there is none. */
  #end(reason: string): void {
    if (this.over.aborted) return;
    this.#socket.destroy();
    this.#release(reason);
  }

  async #close(reason: string, status: GoAwayStatus): Promise<void> {
    if (!this.over.aborted) {
      for (const stream of this.#streams.values()) stream.destroy();
      this.#send(goAwayFrame(this.#lastStreamId, status));
      this.#release(reason);
    }
    await closeSocket(this.#socket, this.#options.clock, { flushMs: this.#options.idleTimeoutMs });
  }

  #release(reason: string): void {
    this.#idle.stop();
    this.#inflater.close();
    this.#socket.off('data', this.#onData);
    this.#socket.off('end', this.#onEnd);
    this.#socket.off('close', this.#onEnd);
    this.#over.abort(new Error(reason));
    for (const stream of this.#streams.values()) stream.acceptReset();
    this.#streams.clear();
  }
}

function wordAt(body: Buffer, at: number): number {
  if (at + 4 > body.length) throw new SpdyProtocolError('control frame cut short');
  return body.readUInt32BE(at);
}
