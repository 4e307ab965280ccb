import type { Observable } from 'rxjs';

/** Feeds `stream` to `sink` until `signal` aborts (resolves) or the stream errors (rejects). The one place that subscribes for a service. */
export function drainInto<T>(stream: Observable<T>, sink: (value: T) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const subscription = stream.subscribe({ next: sink, error: reject });
    signal.addEventListener(
      'abort',
      () => {
        subscription.unsubscribe();
        resolve();
      },
      { once: true },
    );
  });
}
