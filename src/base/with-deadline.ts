import type { Clock } from './clock.ts';
import { deadline } from './deadline.ts';

/** Runs `work` with a signal that aborts with `signal`, or with an error that says `what` took too long. */
export async function withDeadline<T>(
  clock: Pick<Clock, 'monotonicMs' | 'schedule'>,
  ms: number,
  what: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using within = deadline(clock, ms, what, signal);
  return await work(within.signal);
}
