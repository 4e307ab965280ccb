import { type SchedulerAction, Subscription } from 'rxjs';

/** Node's longest timer: what is set for longer fires after 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Work on a timer of Node's, as RxJS schedules it: once, or again when the work or its owner says so.
 *
 * RxJS' own action hands the delay to Node as it is, where 25 days and more fire at once. This one waits for a long delay
 * in several timers, one after the other, and looks at the clock before it runs: Node's timers may fire a little early.
 */
export class TimedAction<T> extends Subscription implements SchedulerAction<T> {
  readonly #work: (this: SchedulerAction<T>, state?: T) => void;
  readonly #longestTimerMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(work: (this: SchedulerAction<T>, state?: T) => void, longestTimerMs = LONGEST_TIMER_MS) {
    super(() => clearTimeout(this.#timer));
    this.#work = work;
    this.#longestTimerMs = longestTimerMs;
  }

  /** Replaces what was scheduled before. Throws a RangeError when the delay is NaN. */
  schedule(state?: T, delayMs = 0): Subscription {
    if (this.closed) return this;
    this.#waitUntil(performance.now() + checkedDelay(delayMs), state);
    return this;
  }

  #waitUntil(dueMs: number, state: T | undefined): void {
    clearTimeout(this.#timer);
    // A busy machine may let it pass before the next line is run.
    const leftMs = Math.max(0, Math.ceil(dueMs - performance.now()));
    this.#timer = setTimeout(
      () => {
        if (performance.now() < dueMs) this.#waitUntil(dueMs, state);
        else this.#run(state);
      },
      Math.min(leftMs, this.#longestTimerMs),
    );
  }

  #run(state: T | undefined): void {
    try {
      this.#work.call(this, state);
    } catch (error) {
      this.unsubscribe();
      throw error;
    }
  }
}

/** What a scheduler takes as a delay: what is negative is 0. Throws a RangeError for NaN, which would run at once, again and again. */
export function checkedDelay(delayMs: number): number {
  if (Number.isNaN(delayMs)) throw new RangeError('a delay must be a number of milliseconds, found NaN');
  return Math.max(0, delayMs);
}
