import type { SchedulerAction, SchedulerLike, Subscription } from 'rxjs';
import { abortable } from './abortable.ts';
import { TimedAction } from './timed-action.ts';

/**
 * The only door to time: pass it wherever RxJS takes a scheduler, and await `sleep` elsewhere.
 *
 * It tells two times, both in milliseconds. They have nothing to do with each other; never subtract one from the other.
 */
export interface Clock extends SchedulerLike {
  /**
   * The date, as milliseconds since 1970: for what is shown, stored, or compared with a date from elsewhere.
   * An administrator or NTP may set it back or forward by any amount at any time, so no age or deadline rests on it alone.
   */
  now(): number;
  /**
   * Whole milliseconds since some moment before the agent started: for ages, deadlines and what lives for a while in memory.
   * It never goes back and takes no notice of the date. It starts near 0, so "long ago" is `-Infinity`, not 0.
   * It stands still while the machine is suspended: what was due in an hour is due after an hour of the machine running.
   */
  monotonicMs(): number;
  /**
   * Runs `work` once `monotonicMs` has advanced by `delayMs`, never earlier. Any delay will do: what is negative counts as 0, and
   * `Infinity` never comes, but can be cancelled like all others. Throws a RangeError for NaN.
   */
  schedule<T>(work: (this: SchedulerAction<T>, state: T) => void, delayMs: number, state: T): Subscription;
  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delayMs?: number, state?: T): Subscription;
  /** Resolves after `ms`, which is any delay that `schedule` takes. Rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** `Clock.sleep` for any RxJS scheduler. */
export function sleepOn(scheduler: Pick<SchedulerLike, 'schedule'>, ms: number, signal?: AbortSignal): Promise<void> {
  const start = (resolve: () => void): Subscription => scheduler.schedule(() => resolve(), ms);
  if (!signal) return new Promise((resolve) => void start(resolve));
  return abortable(signal, (resolve) => {
    const timer = start(resolve);
    return () => timer.unsubscribe();
  });
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => Math.trunc(performance.now()),
  schedule: (work: (this: SchedulerAction<unknown>, state?: unknown) => void, delayMs?: number, state?: unknown) =>
    new TimedAction(work).schedule(state, delayMs),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
};
