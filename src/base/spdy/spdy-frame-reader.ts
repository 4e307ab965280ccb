import { FLAG_FIN, FRAME_HEAD_BYTES, SPDY_VERSION, type SpdyFrame } from './spdy-frame.ts';

/** Control frames are kept until they are whole. Those that Kubernetes' clients send take less than 1 KiB. */
export const MAX_CONTROL_FRAME_BYTES = 64 * 1024;

/** The peer does not speak SPDY/3.1, or not to the letter: the connection cannot go on. */
export class SpdyProtocolError extends Error {
  override readonly name = 'SpdyProtocolError';
}

/**
 * Cuts what arrives into frames, wherever it was cut before. Data frames are handed on piece by piece, as slices of what arrived:
 * they are neither kept nor copied, so that what this holds is less than one control frame.
 */
export class SpdyFrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** The data frame whose pieces are arriving. */
  #data: { readonly streamId: number; left: number; readonly fin: boolean } | undefined;

  /** Bytes that arrived and are in no frame yet. */
  get bufferedBytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The next frame; undefined until more arrives. Throws SpdyProtocolError. */
  next(): SpdyFrame | undefined {
    if (this.#data !== undefined) return this.#dataPiece(this.#data);
    if (this.#bytes < FRAME_HEAD_BYTES) return undefined;
    const head = this.#peek(FRAME_HEAD_BYTES);
    const firstWord = head.readUInt32BE(0);
    const flags = head.readUInt8(4);
    const length = head.readUIntBE(5, 3);
    if (firstWord < 0x80000000) return this.#startData(firstWord, flags, length);
    const version = (firstWord >>> 16) & 0x7fff;
    if (version !== SPDY_VERSION) throw new SpdyProtocolError(`SPDY version ${version}`);
    if (length > MAX_CONTROL_FRAME_BYTES) throw new SpdyProtocolError(`control frame of ${length} bytes`);
    if (this.#bytes < FRAME_HEAD_BYTES + length) return undefined;
    const frame = this.#peek(FRAME_HEAD_BYTES + length);
    this.#drop(FRAME_HEAD_BYTES + length);
    return { kind: 'control', type: firstWord & 0xffff, flags, body: frame.subarray(FRAME_HEAD_BYTES) };
  }

  #startData(streamId: number, flags: number, length: number): SpdyFrame | undefined {
    this.#drop(FRAME_HEAD_BYTES);
    if (streamId === 0) throw new SpdyProtocolError('data for stream 0');
    const fin = (flags & FLAG_FIN) !== 0;
    if (length === 0) return { kind: 'data', streamId, bytes: Buffer.alloc(0), fin };
    this.#data = { streamId, left: length, fin };
    return this.#dataPiece(this.#data);
  }

  #dataPiece(data: { readonly streamId: number; left: number; readonly fin: boolean }): SpdyFrame | undefined {
    const [chunk] = this.#chunks;
    if (chunk === undefined) return undefined;
    const bytes = chunk.length > data.left ? chunk.subarray(0, data.left) : chunk;
    this.#drop(bytes.length);
    data.left -= bytes.length;
    if (data.left === 0) this.#data = undefined;
    return { kind: 'data', streamId: data.streamId, bytes, fin: data.fin && data.left === 0 };
  }

  /** The first `count` bytes, in one piece. They are there. */
  #peek(count: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= count) return first.subarray(0, count);
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole.subarray(0, count);
  }

  #drop(count: number): void {
    this.#bytes -= count;
    for (let left = count; left > 0;) {
      const [first] = this.#chunks;
      if (first === undefined) return;
      if (first.length > left) {
        this.#chunks[0] = first.subarray(left);
        return;
      }
      left -= first.length;
      this.#chunks.shift();
    }
  }
}
