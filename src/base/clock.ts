import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** The only door to time: pass it wherever RxJS takes a scheduler, and await `sleep` elsewhere. */
export interface Clock extends SchedulerLike {
  /** Resolves after `ms`. Rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** `Clock.sleep` for any RxJS scheduler. */
export function sleepOn(scheduler: SchedulerLike, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.unsubscribe();
      reject(signal?.reason);
    };
    const timer = scheduler.schedule(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler),
  sleep: (ms, signal) => sleepOn(asyncScheduler, ms, signal),
};
