import type { Clock } from '../../base/clock.ts';
import { LruMap } from '../../base/lru-map.ts';

/** Remembers answers, each for a time of its own, and asks once for those who want the same at the same time. */
export class ExpiringCache<V> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #answers: LruMap<string, { readonly value: V; readonly untilMs: number }>;
  readonly #asking = new Map<string, Promise<V>>();

  constructor(limit: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#answers = new LruMap(limit);
  }

  /** `keepMs` says how long to remember an answer, 0 not at all. Rejections are not remembered. */
  get(key: string, ask: () => Promise<V>, keepMs: (value: V) => number): Promise<V> {
    const known = this.#answers.get(key);
    if (known !== undefined && this.#clock.monotonicMs() < known.untilMs) return Promise.resolve(known.value);
    const asked = this.#asking.get(key);
    if (asked !== undefined) return asked;
    const asking = this.#ask(key, ask, keepMs).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #ask(key: string, ask: () => Promise<V>, keepMs: (value: V) => number): Promise<V> {
    const value = await ask();
    const forMs = keepMs(value);
    if (forMs > 0) this.#answers.set(key, { value, untilMs: this.#clock.monotonicMs() + forMs });
    return value;
  }
}
