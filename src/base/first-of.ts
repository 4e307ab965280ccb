import type { Observable } from 'rxjs';

/** The stream's first value; rejects with the signal's reason when aborted first, and with the stream's error. */
export function firstOf<T>(stream: Observable<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      subscription.unsubscribe();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const done = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      queueMicrotask(() => subscription.unsubscribe());
      settle();
    };
    const subscription = stream.subscribe({ next: (value) => done(() => resolve(value)), error: (error) => done(() => reject(error)) });
  });
}
