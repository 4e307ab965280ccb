import { LruMap } from '../../../base/lru-map.ts';

const MAX_NAMES = 1000;

/**
 * Names of containers that are being created, or could not be: the engine reports the removal of what it had begun as that of any other. Whoever
 * looked for that would try again at once, and for ever.
 */
export class UnmadeContainers {
  readonly #names = new LruMap<string, true>(MAX_NAMES);

  begin(name: string): void {
    this.#names.set(name, true);
  }

  made(name: string): void {
    this.#names.delete(name);
  }

  has(name: string): boolean {
    return this.#names.get(name) !== undefined;
  }
}
