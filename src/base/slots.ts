import { abortable } from './abortable.ts';

/** Runs so many tasks side by side, and the others after them, in the order in which they were asked for. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#free = most;
  }

  /** Rejects with the signal's reason where it aborts before the task's turn. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await task();
    } finally {
      this.#passOn();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return abortable<void>(signal, (resolve) => {
      const mine = (): void => resolve();
      this.#waiting.add(mine);
      return () => void this.#waiting.delete(mine);
    });
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#free++;
  }
}
