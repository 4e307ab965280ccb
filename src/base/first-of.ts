import type { Observable } from 'rxjs';
import { abortable } from './abortable.ts';

/** The stream's first value; rejects with the signal's reason when aborted first, and with the stream's error. */
export function firstOf<T>(stream: Observable<T>, signal: AbortSignal): Promise<T> {
  return abortable(signal, (resolve, reject) => {
    const subscription = stream.subscribe({ next: resolve, error: reject });
    return () => subscription.unsubscribe();
  });
}
