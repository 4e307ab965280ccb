import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { closeSocket } from '../close-socket.ts';
import { errorText } from '../error-text.ts';
import { IdleTimer } from './idle-timer.ts';
import { GoAwayStatus, type SpdyFrame, dataFrameHead, goAwayFrame } from './spdy-frame.ts';
import { SpdyFrameReader, SpdyProtocolError } from './spdy-frame-reader.ts';
import { HeaderInflater, HeaderPacker, type SpdyHeaders } from './spdy-header-block.ts';
import { WriteGate } from './write-gate.ts';

type DataFrame = Extract<SpdyFrame, { kind: 'data' }>;

/** One end of a connection: what it does with the frames of the other. */
export interface SpdyEnd {
  /** Undefined when more may come; else resolves when it may. What is thrown, or a rejection, is the peer's fault. */
  readonly onData: (frame: DataFrame) => Promise<void> | undefined;
  readonly onControl: (type: number, flags: number, body: Buffer) => Promise<void> | undefined;
  /** The connection was idle for too long, or the peer broke the protocol: to be closed, with these words. */
  readonly onTrouble: (reason: string, status: GoAwayStatus) => void;
  /** Called once, when nothing comes or goes any more. */
  readonly onOver: () => void;
}

export interface SpdyLinkOptions {
  /** The connection ends when no frame came or went for so long. 0: never. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * The frames of a SPDY/3.1 connection as Kubernetes speaks it (github.com/moby/spdystream): no flow control but the socket's own, so that
 * one slow stream holds up its neighbours on the same connection, as it does there.
 *
 * INVARIANTS: frames are handled one after the other, as header blocks share one state; while one waits, the socket is paused. What the
 * peer makes us say, it must read: with too much unsent, no frame is handled. A malformed frame ends the connection.
 */
export class SpdyLink {
  /** Aborts when the connection is over: closed by either side, idle, broken. The reason says which. */
  readonly over: AbortSignal;
  readonly #over = new AbortController();
  readonly #socket: Duplex;
  readonly #end: SpdyEnd;
  readonly #options: SpdyLinkOptions;
  readonly #reader = new SpdyFrameReader();
  readonly #inflater = new HeaderInflater();
  readonly #packer = new HeaderPacker();
  readonly #gate: WriteGate;
  readonly #idle: IdleTimer;
  #waiting = false;
  #closing: Promise<void> | undefined;

  /** `head` is what the HTTP parser has read of it already. */
  constructor(socket: Duplex, head: Buffer, end: SpdyEnd, options: SpdyLinkOptions) {
    this.over = this.#over.signal;
    this.#socket = socket;
    this.#end = end;
    this.#options = options;
    this.#gate = new WriteGate(socket);
    this.#idle = new IdleTimer(options.clock, options.idleTimeoutMs, () => end.onTrouble('idle for too long', GoAwayStatus.OK));
    if (head.length > 0) socket.unshift(head);
  }

  /** Begins to handle frames. */
  start(): void {
    const socket = this.#socket;
    socket.on('error', this.#onError);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.on('data', this.#onData);
    if (socket.destroyed) this.#lost('connection closed');
  }

  /** What is kept in memory for this connection: what came and is in no frame, what goes and was not sent. */
  get bufferedBytes(): number {
    return this.#reader.bufferedBytes + this.#socket.readableLength + this.#socket.writableLength;
  }

  /** Undefined when more can be sent at once; else resolves when it can. What is written to a connection that is gone is lost, as on any socket. */
  sendData(streamId: number, bytes: Buffer, fin: boolean): Promise<void> | undefined {
    if (!this.#socket.writable) return undefined;
    this.#idle.touch();
    this.#socket.cork();
    this.#socket.write(dataFrameHead(streamId, bytes.length, fin));
    if (bytes.length > 0) this.#socket.write(bytes);
    this.#socket.uncork();
    return this.#gate.wait();
  }

  /** A control frame. */
  send(frame: Buffer): Promise<void> | undefined {
    if (!this.#socket.writable) return undefined;
    this.#idle.touch();
    this.#socket.write(frame);
    return this.#gate.wait();
  }

  /** Frames that have come and were not handled, as one before them waited or the connection was over. None once a frame is malformed. */
  *unread(): Generator<SpdyFrame> {
    try {
      for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) yield frame;
    } catch {
      // The connection is over in any case.
    }
  }

  /** Undefined when there is room to send; else resolves when there is. */
  room(): Promise<void> | undefined {
    return this.#gate.wait();
  }

  /** Each header block that comes has to be unpacked, in its order, used or not. */
  unpack(headerBlock: Buffer): Promise<SpdyHeaders> {
    return this.#inflater.decode(headerBlock);
  }

  /** Blocks have to be sent in the order in which they were packed. */
  pack(headers: SpdyHeaders): Buffer {
    return this.#packer.encode(headers);
  }

  /** Says goodbye and closes the socket. Resolves when that is closed. */
  close(reason: string, lastStreamId: number, status: GoAwayStatus): Promise<void> {
    this.#closing ??= this.#close(reason, lastStreamId, status);
    return this.#closing;
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#reader.push(chunk);
    if (!this.#waiting) this.#readFrames();
  };

  readonly #onEnd = (): void => this.#lost('connection closed');

  readonly #onError = (error: Error): void => this.#lost(errorText(error));

  #readFrames(): void {
    try {
      while (!this.over.aborted) {
        const frame = this.#reader.next();
        if (frame === undefined) return;
        this.#idle.touch();
        const room =
          frame.kind === 'data' ? this.#end.onData(frame) : (this.#end.onControl(frame.type, frame.flags, frame.body) ?? this.#gate.wait());
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

  #fail(error: unknown): void {
    this.#end.onTrouble(errorText(error), GoAwayStatus.PROTOCOL_ERROR);
  }

  /** Without a word to the peer: there is none. */
  #lost(reason: string): void {
    if (this.over.aborted) return;
    this.#socket.destroy();
    this.#release(reason);
  }

  async #close(reason: string, lastStreamId: number, status: GoAwayStatus): Promise<void> {
    if (!this.over.aborted) {
      void this.send(goAwayFrame(lastStreamId, status));
      this.#release(reason);
    }
    const { clock, idleTimeoutMs } = this.#options;
    await closeSocket(this.#socket, clock, { flushMs: idleTimeoutMs });
  }

  #release(reason: string): void {
    this.#idle.stop();
    this.#inflater.close();
    this.#socket.off('data', this.#onData);
    this.#socket.off('end', this.#onEnd);
    this.#socket.off('close', this.#onEnd);
    this.#over.abort(new Error(reason));
    this.#end.onOver();
  }
}

/** A 32-bit word of a control frame. Throws SpdyProtocolError where the frame has none there. */
export function wordAt(body: Buffer, at: number): number {
  if (at + 4 > body.length) throw new SpdyProtocolError('control frame cut short');
  return body.readUInt32BE(at);
}
