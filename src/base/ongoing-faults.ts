import { errorText } from './error-text.ts';
import { LruMap } from './lru-map.ts';

/**
 * What is wrong now, by what it is about: so that a fault that lasts is reported once, and once when it is over. Remembers the last `limit`
 * that something was said about; one that is forgotten is news again.
 */
export class OngoingFaults<K> {
  readonly #last: LruMap<K, string>;

  constructor(limit = 1_000) {
    this.#last = new LruMap(limit);
  }

  /** How many are remembered. */
  get size(): number {
    return this.#last.size;
  }

  /** Whether this is news: nothing was wrong about `key`, or something else. Faults that may come in turns are keys themselves. */
  fault(key: K, why: unknown = key): boolean {
    const text = errorText(why);
    if (this.#last.get(key) === text) return false;
    this.#last.set(key, text);
    return true;
  }

  /** Whether it ends something. */
  over(key: K): boolean {
    const was = this.#last.get(key) !== undefined;
    this.#last.delete(key);
    return was;
  }

  /** Forgets those about anything else: it is gone, or is no longer the matter. */
  retain(is: (key: K) => boolean): void {
    this.#last.deleteWhere((key) => !is(key));
  }

  clear(): void {
    this.retain(() => false);
  }
}
