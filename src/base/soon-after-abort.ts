import { anySignal } from './any-signal.ts';
import type { Clock } from './clock.ts';
import { unlessAborted } from './unless-aborted.ts';

/**
 * As `work`, which is to end soon after `signal` has aborted: where it has not within `ms` more, rejects with the signal's reason, and how the
 * work ends counts no more. Unlike unlessAborted it lets work undo what it has half done.
 */
export async function soonAfterAbort<T>(work: Promise<T>, clock: Pick<Clock, 'schedule'>, ms: number, signal: AbortSignal): Promise<T> {
  using late = anySignal();
  let timer: { unsubscribe(): void } | undefined;
  const onAbort = (): void => {
    timer = clock.schedule(() => late.abort(signal.reason), ms);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  try {
    return await unlessAborted(work, late.signal);
  } finally {
    signal.removeEventListener('abort', onAbort);
    timer?.unsubscribe();
  }
}
