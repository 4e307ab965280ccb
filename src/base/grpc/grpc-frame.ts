/** A flag for compression, and the length of the message in four bytes. */
const PREFIX_BYTES = 5;
/** Pieces are put together as they come up to this size. */
const JOINED_BYTES = 4096;

/** What is no message of gRPC's, or one that is too large. */
export class GrpcFrameError extends Error {
  override readonly name = 'GrpcFrameError';
  readonly code: 'Internal' | 'ResourceExhausted';

  constructor(code: 'Internal' | 'ResourceExhausted', message: string) {
    super(message);
    this.code = code;
  }
}

/** A message as it is sent. */
export function grpcFrame(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(PREFIX_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** Cuts what comes in into messages. It holds no more than one message, and none of more than `maxBytes`. */
export class GrpcFrames {
  readonly #maxBytes: number;
  readonly #peer: string;
  #chunks: Buffer[] = [];
  #held = 0;

  constructor(maxBytes: number, peer: 'the server' | 'the client' = 'the server') {
    this.#maxBytes = maxBytes;
    this.#peer = peer;
  }

  /** Bytes of a message that is not whole yet. */
  get held(): number {
    return this.#held;
  }

  /** The messages that are whole by now. Throws GrpcFrameError on what is no gRPC, as soon as it shows. */
  *push(chunk: Buffer): Generator<Buffer> {
    this.#keep(chunk);
    this.#held += chunk.length;
    while (this.#held >= PREFIX_BYTES) {
      const length = this.#length();
      if (this.#held < PREFIX_BYTES + length) return;
      const all = this.#joined();
      yield all.subarray(PREFIX_BYTES, PREFIX_BYTES + length);
      const rest = all.subarray(PREFIX_BYTES + length);
      this.#chunks = rest.length > 0 ? [rest] : [];
      this.#held = rest.length;
    }
  }

  /** Throws GrpcFrameError where a message was begun. */
  end(): void {
    if (this.#held > 0) throw new GrpcFrameError('Internal', `${this.#peer} broke off within a message`);
  }

  /** A piece that is kept costs a hundred bytes beside its own. */
  #keep(chunk: Buffer): void {
    let last = chunk;
    for (;;) {
      const before = this.#chunks.at(-1);
      if (before === undefined || before.length > last.length || before.length + last.length > JOINED_BYTES) break;
      this.#chunks.pop();
      last = Buffer.concat([before, last]);
    }
    this.#chunks.push(last);
  }

  #length(): number {
    // Bytes that trickle in are not joined with each of them.
    if ((this.#chunks[0]?.length ?? 0) < PREFIX_BYTES) this.#joined();
    const [head = Buffer.alloc(PREFIX_BYTES)] = this.#chunks;
    if (head[0] !== 0) {
      const what = head[0] === 1 ? 'a compressed message, which was not asked for' : 'what is no message of gRPC';
      throw new GrpcFrameError('Internal', `${this.#peer} sent ${what}`);
    }
    const length = head.readUInt32BE(1);
    if (length > this.#maxBytes) {
      throw new GrpcFrameError(
        'ResourceExhausted',
        `${this.#peer} sent a message of ${length} bytes, more than the ${this.#maxBytes} allowed`,
      );
    }
    return length;
  }

  #joined(): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const joined = all ?? Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}
