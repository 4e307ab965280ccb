import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { StreamEntry } from '../model/stream-entry.ts';
import { entryLine, lastWholeLine } from './entry-line.ts';
import { belongsTo, segmentName, segmentsAmong, TAIL_BYTES } from './ring-segments.ts';

export interface TimelineRingDeps {
  /** Of its own; made when something is written. */
  readonly directory: string;
  /** Of all segments together. */
  readonly maxBytes: number;
  readonly clock: Pick<Clock, 'schedule'>;
  readonly log: Logger;
}

/** Oldest first. */
interface Segment {
  readonly name: string;
  readonly bytes: number;
}

/** Written at once. */
interface Batch {
  readonly bytes: Buffer;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

const WRITE_EVERY_MS = 1_000;
/** So much is not kept waiting. */
const WRITE_FROM_BYTES = 64 * 1024;
/** Waiting for a disk that is slow. */
const MOST_WAITING = 5_000;
/** Dropping one loses an eighth of what is known. */
const SEGMENTS = 8;

/**
 * Entries on disk, in segments that are only appended to; the oldest is removed before there would be more than `maxBytes`. At most one write a
 * second while they are few. What a disk does not take is lost, counted and reported; nothing waits for it.
 */
export class TimelineRing {
  readonly #deps: TimelineRingDeps;
  readonly #segmentBytes: number;
  readonly #faults = new OngoingFaults<string>();
  #segments: Segment[] | undefined;
  #file: FileHandle | undefined;
  #waiting: StreamEntry[] = [];
  #averageBytes = 300;
  #lost = 0;
  #writtenSeq: number | undefined;
  #writing: Promise<void> | undefined;
  #timer: { unsubscribe(): void } | undefined;

  constructor(deps: TimelineRingDeps) {
    this.#deps = deps;
    this.#segmentBytes = Math.floor(deps.maxBytes / SEGMENTS);
  }

  get directory(): string {
    return this.#deps.directory;
  }

  /** The number of the last entry that was written; undefined: none of this agent's. */
  get writtenSeq(): number | undefined {
    return this.#writtenSeq;
  }

  /** Cheap: what it says is put into words when it is written. */
  add(entry: StreamEntry): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#lost++;
      return;
    }
    this.#waiting.push(entry);
    this.#arm();
  }

  /** Resolves when all that was added before is on its way to the disk, or lost. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    this.#writing = this.#write().finally(() => (this.#writing = undefined));
    await this.#writing;
    if (this.#waiting.length > 0) this.#arm();
  }

  /** Writes what waits. Nothing may be added afterwards. */
  async close(): Promise<void> {
    await this.flush();
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
  }

  #arm(): void {
    const much = this.#waiting.length * this.#averageBytes >= WRITE_FROM_BYTES;
    if (much && this.#writing === undefined) void this.flush();
    else this.#timer ??= this.#deps.clock.schedule(() => void this.flush(), WRITE_EVERY_MS);
  }

  async #write(): Promise<void> {
    const { log, directory } = this.#deps;
    const entries = this.#waiting;
    this.#waiting = [];
    try {
      for (const { bytes, firstSeq, lastSeq } of this.#batches(entries)) {
        await this.#append(bytes, firstSeq);
        this.#writtenSeq = lastSeq;
      }
      if (this.#faults.over(directory)) log.info('timeline written again', { lost: this.#lost });
      else if (this.#lost > 0) log.warn('timeline entries lost: the disk was too slow', { lost: this.#lost });
      this.#lost = 0;
    } catch (error) {
      this.#lost += entries.length;
      // What is wrong with it is looked for with the next write.
      await this.#file?.close().catch(() => {});
      this.#file = undefined;
      this.#segments = undefined;
      if (this.#faults.fault(directory, error))
        log.warn('timeline not written: what happens is not kept until it is', { directory, error });
    }
  }

  /** No longer than a segment. */
  *#batches(entries: readonly StreamEntry[]): Generator<Batch> {
    let lines: string[] = [];
    let length = 0;
    let firstSeq = 0;
    for (const entry of entries) {
      if (lines.length === 0) firstSeq = entry.seq;
      const line = entryLine(entry);
      lines.push(line);
      length += line.length;
      if (length < WRITE_FROM_BYTES && entry !== entries.at(-1)) continue;
      const bytes = Buffer.from(lines.join(''));
      this.#averageBytes = Math.ceil(bytes.length / lines.length);
      yield { bytes, firstSeq, lastSeq: entry.seq };
      lines = [];
      length = 0;
    }
  }

  async #append(bytes: Buffer, firstSeq: number): Promise<void> {
    const segments = (this.#segments ??= await this.#openSegments());
    const last = segments.at(-1);
    if (last === undefined || last.bytes + bytes.length > this.#segmentBytes) await this.#begin(segments, firstSeq);
    else this.#file ??= await this.#open(last.name);
    await this.#makeRoom(segments, bytes.length);
    const at = segments.length - 1;
    const { name = '', bytes: before = 0 } = segments[at] ?? {};
    await this.#file?.appendFile(bytes);
    segments[at] = { name, bytes: before + bytes.length };
  }

  async #begin(segments: Segment[], firstSeq: number): Promise<void> {
    await this.#file?.close();
    const name = segmentName(firstSeq);
    this.#file = await this.#open(name);
    segments.push({ name, bytes: 0 });
  }

  #open(name: string): Promise<FileHandle> {
    return open(
      join(this.#deps.directory, name),
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
      0o600,
    );
  }

  async #makeRoom(segments: Segment[], bytes: number): Promise<void> {
    const total = (): number => segments.reduce((sum, segment) => sum + segment.bytes, bytes);
    while (segments.length > 1 && total() > this.#deps.maxBytes) {
      const oldest = segments.shift();
      if (oldest !== undefined) await unlink(join(this.#deps.directory, oldest.name)).catch(unlessMissing);
    }
  }

  async #openSegments(): Promise<Segment[]> {
    const { directory } = this.#deps;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const segments: Segment[] = [];
    const found = await readdir(directory, { withFileTypes: true });
    for (const name of segmentsAmong(found)) segments.push({ name, bytes: (await stat(join(directory, name))).size });
    for (let last = segments.pop(); last !== undefined; last = segments.pop()) {
      const bytes = await this.#mend(last);
      if (bytes === 0) continue;
      segments.push({ name: last.name, bytes });
      break;
    }
    return segments;
  }

  /** Cuts off what is behind the last whole line. Resolves with how long the segment is now; where nothing of it is whole, it is removed. */
  async #mend({ name, bytes: size }: Segment): Promise<number> {
    const path = join(this.#deps.directory, name);
    const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
      const whole = lastWholeLine(tail.subarray(0, bytesRead), belongsTo(name));
      const end = whole === undefined ? 0 : size - tail.length + whole.end;
      if (end < size) {
        await file.truncate(end);
        // A write that failed half-way is reported already.
        if (this.#faults.size === 0) this.#deps.log.warn('damaged end of the timeline cut off', { file: path, bytes: size - end });
      }
      if (end === 0) await unlink(path);
      return end;
    } finally {
      await file.close();
    }
  }
}

function unlessMissing(error: unknown): void {
  if (!isMissingFile(error)) throw error;
}
