import { sleep } from './sleep.ts';

/**
 * Runs `work` soon after it was asked for, never twice at a time, nor more often than once in `leastMs`; what was asked for meanwhile is one
 * more run. `work` deals with its own failures.
 */
export class Coalesced {
  readonly #work: (signal: AbortSignal) => Promise<void>;
  readonly #leastMs: number;
  readonly #signal: AbortSignal;
  #wanted = false;
  #running = false;

  constructor(leastMs: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>) {
    this.#leastMs = leastMs;
    this.#signal = signal;
    this.#work = work;
  }

  ask(): void {
    this.#wanted = true;
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanted && !this.#signal.aborted) {
      this.#wanted = false;
      await this.#work(this.#signal);
      await sleep(this.#leastMs, this.#signal);
    }
    this.#running = false;
  }
}
