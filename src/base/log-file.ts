import { closeSync, constants, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from './clock.ts';
import { errorText } from './error-text.ts';

export interface LogFileDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Where it was written to before, it goes on; for root alone where it is missing, its directory too. */
  readonly path: string;
  /** Then it becomes PATH.1, in place of the one before, and is begun again; Infinity: never. */
  readonly maxBytes: number;
  /** Hears once that nothing can be written, and of what was lost once it can again. */
  readonly onFault: (message: string) => void;
}

/** So often is a file opened again that could not be. */
const RETRY_MS = 60_000;

/** A log file of a bounded size, written before the call returns. What cannot be written is lost, counted, and stops nothing. */
export class LogFile {
  readonly #deps: LogFileDeps;
  #fd: number | undefined;
  #bytes = 0;
  #lost = 0;
  #isCut = false;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: LogFileDeps) {
    this.#deps = deps;
  }

  /** Whether all of it was written. */
  write(lines: string): boolean {
    const { clock, path, onFault } = this.#deps;
    if (this.#fd === undefined && clock.monotonicMs() - this.#failedAtMs < RETRY_MS) {
      this.#lost++;
      return false;
    }
    try {
      this.#put(Buffer.from(this.#isCut ? `\n${lines}` : lines));
      if (this.#lost > 0) onFault(`the log file ${path} is written again: ${this.#lost} lines are lost`);
      this.#lost = 0;
      return true;
    } catch (error) {
      if (this.#lost++ === 0) onFault(`the log file ${path} cannot be written: ${errorText(error)}`);
      this.#close();
      this.#failedAtMs = clock.monotonicMs();
      return false;
    }
  }

  #put(text: Buffer): void {
    let fd = (this.#fd ??= this.#open());
    if (this.#bytes > 0 && this.#bytes + text.length > this.#deps.maxBytes) fd = this.#rotate(fd);
    let written = 0;
    try {
      while (written < text.length) written += writeSync(fd, text, written);
      this.#isCut = false;
    } catch (error) {
      // The next line is one of its own.
      this.#isCut ||= written > 0;
      throw error;
    } finally {
      this.#bytes += written;
    }
  }

  #open(): number {
    const { path } = this.#deps;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Opening a FIFO without a reader fails at once, and does not block.
    const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK } = constants;
    const fd = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600);
    const found = fstatSync(fd);
    // A terminal or a pipe has no size, and is not renamed.
    this.#bytes = found.isFile() ? found.size : Number.NEGATIVE_INFINITY;
    return fd;
  }

  #rotate(fd: number): number {
    // Something else may have emptied it meanwhile.
    this.#bytes = fstatSync(fd).size;
    if (this.#bytes < this.#deps.maxBytes / 2) return fd;
    this.#close();
    renameSync(this.#deps.path, `${this.#deps.path}.1`);
    return (this.#fd = this.#open());
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
