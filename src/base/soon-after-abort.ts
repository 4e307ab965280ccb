import type { Clock } from './clock.ts';

/**
 * As `work`, which is to end soon after `signal` has aborted: where it has not within `ms` more, rejects with `late`, or with the signal's
 * reason, and how the work ends counts no more. Unlike unlessAborted it lets work undo what it has half done.
 */
export function soonAfterAbort<T>(
  work: Promise<T>,
  clock: Pick<Clock, 'schedule'>,
  ms: number,
  signal: AbortSignal,
  late?: Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: { unsubscribe(): void } | undefined;
    const onAbort = (): void => {
      timer = clock.schedule(() => reject(late ?? signal.reason), ms);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
    const ended = (): void => {
      signal.removeEventListener('abort', onAbort);
      timer?.unsubscribe();
    };
    work.then(
      (value) => {
        ended();
        resolve(value);
      },
      (error: unknown) => {
        ended();
        reject(error);
      },
    );
  });
}
