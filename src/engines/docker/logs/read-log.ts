import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { errorCode } from '../../../base/error-code.ts';
import type { LogOptions, LogPiece } from '../../../ports/container-access.ts';
import { LogDecoder } from './log-decoder.ts';
import type { LogWatch } from './log-watches.ts';
import { tailStart } from './tail-start.ts';

const NEWLINE = 0x0a;
const MIN_BLOCK_BYTES = 4 << 10;
const MAX_BLOCK_BYTES = 64 << 10;
/** Each of many readers holds what its client has not taken yet. */
const MAX_BLOCK_BYTES_OF_MANY = 16 << 10;
const MANY = 8;
/** Docker cuts lines at 16 KiB of text. A file without newlines is no log. */
const MAX_LINE_BYTES = 32 << 20;

/**
 * The pieces of one container's log file. With a `watch` it goes on until the watch has ended, over rotations; without, it ends with the
 * file. An abort of `signal` ends it without an error. Rejects when the file cannot be opened or read, or is no log.
 */
export async function* readLog(
  path: string,
  options: LogOptions,
  watch: LogWatch | undefined,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  const decoder = new LogDecoder(options);
  const reader = new LineReader(await open(path), () => ((watch?.followers ?? 0) > MANY ? MAX_BLOCK_BYTES_OF_MANY : MAX_BLOCK_BYTES));
  try {
    const { tailLines = -1 } = options;
    if (tailLines >= 0) reader.position = await tailStart(reader.file, tailLines, signal);
    let generation = watch?.generation;
    for (;;) {
      // What is known before the reading: an end that comes meanwhile may come with more to read.
      const { version, ended = true, generation: current } = watch ?? {};
      for (;;) {
        if (signal.aborted) return;
        const lines = await reader.lines();
        if (lines === undefined) break;
        for (const piece of decoder.decode(lines)) yield piece;
        if (decoder.failure) throw decoder.failure;
        if (decoder.full) return;
      }
      const rotated = watch !== undefined && generation !== current && (await reader.follow(path));
      generation = current;
      if (rotated) continue;
      if (!watch || ended || version === undefined) break;
      decoder.release();
      await watch.changed(version, signal);
    }
    for (const piece of decoder.decode(reader.rest())) yield piece;
    if (decoder.failure) throw decoder.failure;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await reader.file.close();
  }
}

const nothing = Buffer.alloc(0);

/** Whole lines of a growing file, as many at once as a block holds. */
class LineReader {
  file: FileHandle;
  /** Of the first byte that has not been read. */
  position = 0;
  #carry = nothing;
  readonly #maxBlockBytes: () => number;
  #blockBytes = MIN_BLOCK_BYTES;
  #block = nothing;
  #opened: Promise<Stats> | undefined;

  constructor(file: FileHandle, maxBlockBytes: () => number) {
    this.file = file;
    this.#maxBlockBytes = maxBlockBytes;
  }

  /** Undefined at the end of the file, for now. What is returned is good until the next call. */
  async lines(): Promise<Buffer | undefined> {
    for (;;) {
      const carried = this.#carry.length;
      const wanted = Math.max(Math.min(this.#blockBytes, this.#maxBlockBytes()), carried);
      if (this.#block.length < carried + wanted) this.#block = Buffer.allocUnsafeSlow(carried + wanted);
      const block = this.#block;
      const { bytesRead } = await this.file.read(block, carried, wanted, this.position);
      // Small blocks for who waits at the end, as a hundred may, and big ones for who has much to read.
      this.#blockBytes = bytesRead === wanted ? Math.min(MAX_BLOCK_BYTES, this.#blockBytes * 4) : MIN_BLOCK_BYTES;
      if (bytesRead === 0) {
        // While it waits it holds nothing.
        this.#block = nothing;
        return undefined;
      }
      block.set(this.#carry);
      this.position += bytesRead;
      const filled = carried + bytesRead;
      const end = block.subarray(0, filled).lastIndexOf(NEWLINE) + 1;
      // A copy: the rest of a line must not hold a whole block.
      this.#carry = Buffer.from(block.subarray(end, filled));
      if (end > 0) return block.subarray(0, end);
      if (filled > MAX_LINE_BYTES) throw new Error(`a line of more than ${MAX_LINE_BYTES} bytes in a container's log`);
    }
  }

  /** The last line, where it lacks its newline. */
  rest(): Buffer {
    const rest = this.#carry;
    this.#carry = nothing;
    return rest;
  }

  /** Goes on with what has the name now, if that is another file or has been emptied. What was left of a line is lost with the old one. */
  async follow(path: string): Promise<boolean> {
    try {
      const [was, is] = await Promise.all([(this.#opened ??= this.file.stat()), stat(path)]);
      const same = was.ino === is.ino && was.dev === is.dev;
      if (same && is.size >= this.position) return false;
      if (!same) await this.#replace(await open(path));
    } catch (error) {
      // Between two files.
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
    this.position = 0;
    this.#carry = nothing;
    return true;
  }

  async #replace(next: FileHandle): Promise<void> {
    const old = this.file;
    this.file = next;
    this.#opened = undefined;
    await old.close();
  }
}
