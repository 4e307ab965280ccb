/** A map that holds at most `limit` entries: what was neither read nor written for longest gives way. */
export class LruMap<K, V> {
  readonly #limit: number;
  /** A Map keeps the order of insertion: the first is the one to go. */
  readonly #entries = new Map<K, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#touch(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#touch(key, value);
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Those not touched for longest first. */
  keys(): readonly K[] {
    return [...this.#entries.keys()];
  }

  /** Forgets the entries of these keys. */
  deleteWhere(is: (key: K) => boolean): void {
    for (const key of this.#entries.keys()) if (is(key)) this.#entries.delete(key);
  }

  #touch(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
  }
}
