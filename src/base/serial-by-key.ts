import { unlessAborted } from './unless-aborted.ts';

/** Runs tasks of one key one after the other, in the order in which they were asked for; those of different keys side by side. */
export class SerialByKey<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  async run<T>(key: K, task: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(task, task);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }

  /** The same for who waits no longer than `signal` lets them: rejects with its reason, and the task is not begun after that. */
  runWithin<T>(key: K, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const mine = this.run(key, async () => {
      signal.throwIfAborted();
      return task();
    });
    return unlessAborted(mine, signal);
  }
}
