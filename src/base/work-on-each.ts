import type { Observable } from 'rxjs';
import { firstOf } from './first-of.ts';

/**
 * Works on each key that `listed` has, side by side, one work a key at a time; looks again with each item of `news`. Until `signal` aborts, and
 * what is under way has ended. `work` must not reject.
 */
export async function workOnEach<K>(
  listed: () => Iterable<K>,
  news: Observable<unknown>,
  work: (key: K) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const busy = new Map<K, Promise<void>>();
  while (!signal.aborted) {
    const next = firstOf(news, signal).catch(() => {});
    for (const key of listed()) {
      if (busy.has(key)) continue;
      busy.set(
        key,
        work(key).finally(() => busy.delete(key)),
      );
    }
    await next;
  }
  await Promise.allSettled(busy.values());
}
