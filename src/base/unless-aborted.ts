import { abortable } from './abortable.ts';

/** As `work`, but rejects with the signal's reason as soon as it aborts; the work goes on, and its end is ignored. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Heard in any case: what fails later is no unhandled rejection.
  work.catch(() => {});
  return abortable(signal, (resolve, reject) => void work.then(resolve, reject));
}
