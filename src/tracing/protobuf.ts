/** Writes one message in protocol buffers' wire format (protobuf.dev/programming-guides/encoding). What is undefined is left out. */
export class ProtobufWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  /** A whole number that is not negative: an enum's, or an int64's. */
  int(field: number, value: number): this {
    this.#put(varint(field << 3), varint(value));
    return this;
  }

  bool(field: number, value: boolean): this {
    return this.int(field, value ? 1 : 0);
  }

  fixed32(field: number, value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.#put(varint((field << 3) | 5), bytes);
    return this;
  }

  fixed64(field: number, value: bigint): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    this.#put(varint((field << 3) | 1), bytes);
    return this;
  }

  double(field: number, value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#put(varint((field << 3) | 1), bytes);
    return this;
  }

  bytes(field: number, value: Uint8Array | undefined): this {
    if (value !== undefined) this.#put(varint((field << 3) | 2), varint(value.length), value);
    return this;
  }

  /** What is no Unicode in it becomes the replacement character. */
  text(field: number, value: string | undefined): this {
    return this.bytes(field, value === undefined ? undefined : Buffer.from(value));
  }

  message(field: number, value: ProtobufWriter | undefined): this {
    return this.bytes(field, value?.finish());
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts, this.#length);
  }

  #put(...parts: Uint8Array[]): void {
    for (const part of parts) {
      this.#parts.push(part);
      this.#length += part.length;
    }
  }
}

/** Of a whole number that is not negative. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}
