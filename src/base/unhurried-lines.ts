import { errorCode } from './error-code.ts';
import type { LineDestination } from './pino-logger.ts';

export interface UnhurriedLinesDeps {
  /** Writes what is taken at once, and returns how many bytes that were. Throws EAGAIN where nothing is. */
  readonly put: (bytes: Buffer) => number;
  /** Runs work after some milliseconds; what ends meanwhile does not wait for it. */
  readonly later: (work: () => void, ms: number) => void;
  /** Blocks the thread. */
  readonly pause: (ms: number) => void;
}

/** What a reader that is behind leaves to be written, in bytes: some thousand lines. */
export const MOST_WAITING_BYTES = 2 << 20;
const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 1000;
/** As long does the end wait for a reader that takes nothing. */
const LAST_WAIT_MS = 1000;
/** And for one that takes little. */
const LONGEST_WAIT_MS = 5000;

/**
 * Lines to a pipe or socket whose reader may be behind, hang or be gone. They are written before the call returns where they are taken at once;
 * others wait in their order, up to a bound. What is over it, or cannot be written, is lost, counted, and stops nothing: least of all the agent.
 */
export class UnhurriedLines implements LineDestination {
  readonly #deps: UnhurriedLinesDeps;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lost = 0;
  /** Part of the line that was tried last is written: of the first that waits, or, where none does, of one that is lost. */
  #isCut = false;
  #isRetrying = false;

  constructor(deps: UnhurriedLinesDeps) {
    this.#deps = deps;
  }

  write(lines: string): void {
    const bytes = Buffer.byteLength(lines);
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes > MOST_WAITING_BYTES) this.#lost++;
    else {
      // What has been lost is said where it was lost.
      this.#noteLost();
      this.#add(lines);
    }
    this.#flush();
    if (this.#waiting.length > 0 && !this.#isRetrying) this.#retryIn(FIRST_RETRY_MS);
  }

  /** Before the process ends: what waits is written, unless a whole second passes in which nothing is taken, or five in all. */
  end(): void {
    let silentMs = 0;
    for (let waitedMs = 0; silentMs < LAST_WAIT_MS && waitedMs < LONGEST_WAIT_MS; waitedMs += FIRST_RETRY_MS) {
      if (this.#flush()) silentMs = 0;
      if (this.#waiting.length === 0) return;
      this.#deps.pause(FIRST_RETRY_MS);
      silentMs += FIRST_RETRY_MS;
    }
  }

  #add(lines: string): void {
    // After half a line the next one is one of its own.
    const bytes = Buffer.from(this.#isCut && this.#waiting.length === 0 ? `\n${lines}` : lines);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #noteLost(): void {
    if (this.#lost > 0) this.#add(`rxlet: ${this.#lost} lines of the log are lost: they could not be written\n`);
    this.#lost = 0;
  }

  /** Whether anything was taken. */
  #flush(): boolean {
    let taken = false;
    try {
      for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
        const written = this.#deps.put(first);
        taken ||= written > 0;
        this.#waitingBytes -= written;
        this.#isCut = written < first.length;
        if (this.#isCut) this.#waiting[0] = first.subarray(written);
        else this.#waiting.shift();
        if (this.#waiting.length === 0) this.#noteLost();
      }
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return taken;
      // Its reader is gone, or its disk is full: pods matter more than their log.
      this.#lost += this.#waiting.length;
      this.#waiting = [];
      this.#waitingBytes = 0;
    }
    return taken;
  }

  #retryIn(ms: number): void {
    this.#isRetrying = true;
    this.#deps.later(() => {
      this.#isRetrying = false;
      const taken = this.#flush();
      if (this.#waiting.length > 0) this.#retryIn(taken ? FIRST_RETRY_MS : Math.min(ms * 2, LAST_RETRY_MS));
    }, ms);
  }
}
