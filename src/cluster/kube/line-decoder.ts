/** A line that is longer than any object can be: the stream is not what it should be. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

/** Cuts a stream of bytes into lines of UTF-8, however the bytes are cut; a line without its end is left out. */
export class LineDecoder {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes, without their ends and without empty ones. Throws LineTooLongError. */
  push(chunk: Uint8Array): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      this.#keep(chunk.subarray(from, end));
      const line = this.#take();
      if (line !== '') lines.push(line);
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) throw new LineTooLongError(`a line of more than ${this.#maxBytes} bytes`);
    this.#parts.push(part);
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString('utf8').trim();
    this.#parts = [];
    this.#bytes = 0;
    return line;
  }
}
