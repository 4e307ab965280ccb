import { FedDuplex, sendInPieces } from './fed-duplex.ts';
import { ResetStatus } from './spdy-frame.ts';
import type { SpdyHeaders } from './spdy-header-block.ts';

/** What a stream asks of its connection. */
export interface SpdyStreamOutlet {
  /** Undefined when more can be sent at once; else resolves when it can. */
  sendData(streamId: number, bytes: Buffer, fin: boolean): Promise<void> | undefined;
  /** The stream is over; the status to tell the peer, if it does not know. */
  forget(streamId: number, status: ResetStatus | undefined): void;
}

/** One stream of a connection. `end` closes our half, the end of reading is the peer's; `destroy` resets it. A reset by the peer is a close without an end. */
export class SpdyStream extends FedDuplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #outlet: SpdyStreamOutlet;
  #peerReset = false;
  #finSent = false;

  constructor(outlet: SpdyStreamOutlet, id: number, headers: SpdyHeaders, bufferBytes: number) {
    super({ readableHighWaterMark: bufferBytes });
    this.#outlet = outlet;
    this.id = id;
    this.headers = headers;
  }

  /** The peer has reset the stream, or the connection is gone: no word to the peer. */
  acceptReset(): void {
    this.#peerReset = true;
    this.destroy();
  }

  /** The same from a peer that closes so once it has said all: what came may still be read, and what is written goes nowhere. */
  acceptClose(): void {
    this.#peerReset = true;
    this.acceptEnd();
    // Once it is read to its end it closes.
    if (!this.destroyed) this.end();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#peerReset) done();
    else sendInPieces(bytes, (piece) => this.#outlet.sendData(this.id, piece, false), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#finSent = true;
    if (!this.#peerReset) void this.#outlet.sendData(this.id, Buffer.alloc(0), true);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const known = this.#peerReset || (this.peerEnded && this.#finSent);
    this.#outlet.forget(this.id, known ? undefined : ResetStatus.CANCEL);
    super._destroy(error, done);
  }
}
