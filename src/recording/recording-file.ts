import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { notUsable } from '../options/file-fault.ts';
import type { Line } from './lines.ts';

export interface RecordingFileDeps {
  readonly path: string;
  /** At which it ends. */
  readonly maxBytes: number;
  readonly clock: Pick<Clock, 'schedule'>;
  readonly log: Logger;
}

/** What a crash of the agent loses of it. */
const BATCH_MS = 200;
/** Lines that wait for the disk: one that is slower than that cannot be recorded to. */
const MOST_WAITING_BYTES = 32 << 20;

/**
 * A recording on the disk, for its owner alone: a line of JSON for each thing, written in batches. What was there under its name is kept as
 * NAME.previous. A disk that is full, too slow or broken ends the recording, and so does its bound; both are logged, and nothing else ends.
 */
export class RecordingFile {
  readonly #deps: RecordingFileDeps;
  readonly #file: FileHandle;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #isOver = false;
  #writing: Promise<void> | undefined;
  #timer: { unsubscribe(): void } | undefined;

  private constructor(file: FileHandle, deps: RecordingFileDeps) {
    this.#file = file;
    this.#deps = deps;
  }

  /** Rejects with an error for people where it cannot be made. */
  static async create(deps: RecordingFileDeps): Promise<RecordingFile> {
    const { path } = deps;
    try {
      await rename(path, `${path}.previous`).catch((error: unknown) => {
        if (!isMissingFile(error)) throw error;
      });
      // A link that somebody has put there is not followed.
      const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      return new RecordingFile(file, deps);
    } catch (cause) {
      throw new Error(`${notUsable.recordFile(path)} (--record)`, { cause });
    }
  }

  write(line: Line): void {
    if (this.#isOver) return;
    const text = `${JSON.stringify(line)}\n`;
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > this.#deps.maxBytes) {
      this.#end('recording ended: it has reached its bound (--record-max-mib)', {});
      return;
    }
    if (this.#waitingBytes + bytes > MOST_WAITING_BYTES) {
      this.#end('recording ended: the disk takes too long', {});
      return;
    }
    this.#bytes += bytes;
    this.#waitingBytes += bytes;
    this.#waiting.push(text);
    this.#timer ??= this.#deps.clock.schedule(() => {
      this.#timer = undefined;
      void this.#flush();
    }, BATCH_MS);
  }

  /** Resolves when all that could be written is. */
  async close(): Promise<void> {
    this.write({ end: true });
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    await this.#flush();
    this.#isOver = true;
    await this.#file.close().catch(() => {});
  }

  async #flush(): Promise<void> {
    while (this.#writing) await this.#writing;
    if (this.#waiting.length === 0) return;
    const batch = Buffer.from(this.#waiting.join(''));
    this.#waiting = [];
    this.#writing = this.#append(batch);
    await this.#writing;
  }

  async #append(batch: Buffer): Promise<void> {
    try {
      await this.#file.appendFile(batch);
      this.#waitingBytes -= batch.length;
    } catch (error) {
      this.#waiting = [];
      if (!this.#isOver) this.#end('recording ended: it cannot be written', { error });
    } finally {
      this.#writing = undefined;
    }
  }

  /** What waits is still written: a recording is whole up to its end. */
  #end(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#isOver = true;
    this.#deps.log.warn(message, { path: this.#deps.path, bytes: this.#bytes, ...fields });
  }
}
