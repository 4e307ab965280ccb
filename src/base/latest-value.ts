import { abortable } from './abortable.ts';

/** The last of several values, for those who may have to wait for the first. */
export class LatestValue<T> {
  #latest: { readonly value: T } | undefined;
  readonly #waiting = new Set<(value: T) => void>();

  /** Undefined before the first. */
  get known(): { readonly value: T } | undefined {
    return this.#latest;
  }

  set(value: T): void {
    this.#latest = { value };
    for (const resolve of this.#waiting) resolve(value);
  }

  /** Resolves with the latest where there is one, else with the first. Rejects with the signal's reason. */
  wait(signal: AbortSignal): Promise<T> {
    return abortable(signal, (resolve) => {
      if (this.#latest !== undefined) {
        resolve(this.#latest.value);
        return undefined;
      }
      this.#waiting.add(resolve);
      return () => void this.#waiting.delete(resolve);
    });
  }
}
