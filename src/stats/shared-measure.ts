import type { Clock } from '../base/clock.ts';
import { unlessAborted } from '../base/unless-aborted.ts';

/** One measurement for all who ask within a short while. It ends with none of them: who no longer waits does not end it for the others. */
export class SharedMeasure<T> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #freshMs: number;
  readonly #measure: () => Promise<T>;
  #begun: { readonly atMs: number; readonly result: Promise<T> } | undefined;
  #underWay = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>, freshMs: number, measure: () => Promise<T>) {
    this.#clock = clock;
    this.#freshMs = freshMs;
    this.#measure = measure;
  }

  /** Rejects with the measurement's error, or the signal's reason. An error is not kept. */
  async ask(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    return unlessAborted(this.#current(), signal);
  }

  #current(): Promise<T> {
    const nowMs = this.#clock.monotonicMs();
    const { atMs, result } = this.#begun ?? {};
    if (result !== undefined && atMs !== undefined && (this.#underWay || nowMs - atMs < this.#freshMs)) return result;
    this.#underWay = true;
    const begun = { atMs: nowMs, result: this.#measure() };
    this.#begun = begun;
    begun.result.then(
      () => {
        this.#underWay = false;
      },
      () => {
        this.#underWay = false;
        this.#begun = undefined;
      },
    );
    return begun.result;
  }
}
