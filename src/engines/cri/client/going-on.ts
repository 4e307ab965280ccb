import { unlessAborted } from '../../../base/unless-aborted.ts';

/** As `work`, which goes on when `signal` aborts: a runtime cancels what it does for a call that is cancelled, such as to stop a container. */
export async function goingOn<T>(work: (own: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return unlessAborted(work(new AbortController().signal), signal);
}
