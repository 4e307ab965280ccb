import type { Stats } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { errorCode } from '../../../base/error-code.ts';
import type { LogOptions, LogPiece } from '../../../ports/container-access.ts';
import { LogDecoder } from './log-decoder.ts';
import type { LogWatch } from './log-watches.ts';
import { type LogNames, type OpenLog, openNewer, openNewest, openOldest, openOlder } from './rotated-logs.ts';
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
 * The pieces of one container's log, from the oldest file that the engine has kept of it. With a `watch` it goes on until the watch has ended,
 * over rotations; without, it ends with the file that is written to when it begins. An abort of `signal` ends it without an error. Rejects when
 * the log cannot be opened or read, or is none.
 */
export async function* readLog(
  path: string,
  names: LogNames,
  options: LogOptions,
  watch: LogWatch | undefined,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  const decoder = new LogDecoder(options);
  let generation = watch?.generation;
  let start: LogStart;
  try {
    start = await startOf(path, names, options.tailLines, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const blockBytes = (): number => ((watch?.followers ?? 0) > MANY ? MAX_BLOCK_BYTES_OF_MANY : MAX_BLOCK_BYTES);
  const reader = new LineReader(start, blockBytes);
  let newerFiles = start.index;
  // Nothing is written any more to the file that is read: once it is read to its end, a newer one comes.
  let isOver = start.index > 0;
  try {
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
      if (!watch && newerFiles === 0) break;
      // One that has ended will not have written to two files at once.
      const stays = isOver && watch !== undefined && !ended && names.isSettling(path);
      if (isOver && !stays) {
        const newer = await openNewer(names, path, reader);
        if (newer !== 'later') {
          await reader.replace(newer);
          isOver = newer.index > 0;
          newerFiles--;
          continue;
        }
        isOver = false;
      } else if (!isOver && generation !== current) {
        generation = current;
        const now = await reader.compare(path);
        // What came between the last look and the rotation is still to be read.
        isOver = now === 'another';
        if (now !== 'same') continue;
      }
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

interface LogStart extends OpenLog {
  readonly position: number;
}

/** Where the last `tailLines` lines begin, in whichever file that is; undefined or negative: all of them. */
async function startOf(path: string, names: LogNames, tailLines = -1, signal: AbortSignal): Promise<LogStart> {
  if (tailLines < 0) return { ...(await openOldest(names, path)), position: 0 };
  let log = await openNewest(path);
  try {
    let wanted = tailLines;
    for (;;) {
      const { position, lines } = await tailStart(log.file, wanted, signal);
      wanted -= lines;
      const older = position === 0 && wanted > 0 ? await openOlder(names, path, log) : undefined;
      if (older === undefined) return { ...log, position };
      await log.file.close();
      log = older;
    }
  } catch (error) {
    await log.file.close();
    throw error;
  }
}

const nothing = Buffer.alloc(0);

/** Whole lines of a growing file, as many at once as a block holds. */
class LineReader {
  file: FileHandle;
  /** What it was when it was opened. */
  index: number;
  /** Of the first byte that has not been read. */
  position: number;
  #carry = nothing;
  readonly #maxBlockBytes: () => number;
  #blockBytes = MIN_BLOCK_BYTES;
  #block = nothing;
  #opened: Promise<Stats> | undefined;

  constructor({ file, index, position }: LogStart, maxBlockBytes: () => number) {
    this.file = file;
    this.index = index;
    this.position = position;
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

  /** Whether the name has another file by now, or none. One that was emptied is read from its start again. */
  async compare(path: string): Promise<'same' | 'emptied' | 'another'> {
    try {
      const [was, is] = await Promise.all([(this.#opened ??= this.file.stat()), stat(path)]);
      if (was.ino !== is.ino || was.dev !== is.dev) return 'another';
      if (is.size >= this.position) return 'same';
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return 'another';
      throw error;
    }
    this.position = 0;
    this.#carry = nothing;
    return 'emptied';
  }

  /** Goes on with the start of another file. What was left of a line is lost with the old one. */
  async replace({ file, index }: OpenLog): Promise<void> {
    const old = this.file;
    this.file = file;
    this.index = index;
    this.position = 0;
    this.#carry = nothing;
    this.#opened = undefined;
    await old.close();
  }
}
