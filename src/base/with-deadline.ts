import { anySignal } from './any-signal.ts';
import type { Clock } from './clock.ts';

/** Runs `work` with a signal that aborts with `signal`, or with an error that says `what` took too long. */
export async function withDeadline<T>(
  clock: Pick<Clock, 'schedule'>,
  ms: number,
  what: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const timer = clock.schedule(() => own.abort(new Error(`${what} took longer than ${ms / 1000} s`)), ms);
  try {
    using within = anySignal(signal, own.signal);
    return await work(within.signal);
  } finally {
    timer.unsubscribe();
  }
}
