import type { Clock } from '../../base/clock.ts';
import { LruMap } from '../../base/lru-map.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';

/** An answer that is under way, for so many as want it. */
interface Asking<V> {
  readonly answer: Promise<V>;
  readonly gone: AbortController;
  wanted: number;
}

/** Remembers answers, each for a time of its own, and asks once for those who want the same at the same time. */
export class ExpiringCache<V> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #answers: LruMap<string, { readonly value: V; readonly untilMs: number }>;
  readonly #asking = new Map<string, Asking<V>>();

  constructor(limit: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#answers = new LruMap(limit);
  }

  /**
   * `ask` is called when the answer is not known; its signal aborts once all who want it have gone. `keepMs` says how long to remember an
   * answer, 0 not at all. Rejects as `ask` does, which is not remembered, and with the reason of `signal`.
   */
  async get(key: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<V>, keepMs: (value: V) => number): Promise<V> {
    signal.throwIfAborted();
    const known = this.#answers.get(key);
    if (known !== undefined && this.#clock.monotonicMs() < known.untilMs) return known.value;
    const asking = this.#asking.get(key) ?? this.#ask(key, ask, keepMs);
    asking.wanted++;
    try {
      return await unlessAborted(asking.answer, signal);
    } finally {
      asking.wanted--;
      if (asking.wanted === 0) {
        this.#forget(key, asking);
        asking.gone.abort(signal.reason);
      }
    }
  }

  #ask(key: string, ask: (signal: AbortSignal) => Promise<V>, keepMs: (value: V) => number): Asking<V> {
    const gone = new AbortController();
    const answer = ask(gone.signal).then((value) => {
      const forMs = keepMs(value);
      if (forMs > 0) this.#answers.set(key, { value, untilMs: this.#clock.monotonicMs() + forMs });
      return value;
    });
    const asking = { answer, gone, wanted: 0 };
    this.#asking.set(key, asking);
    const settled = (): void => this.#forget(key, asking);
    answer.then(settled, settled);
    return asking;
  }

  #forget(key: string, asking: Asking<V>): void {
    if (this.#asking.get(key) === asking) this.#asking.delete(key);
  }
}
