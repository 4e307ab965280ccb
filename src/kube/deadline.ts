import type { Clock } from '../base/clock.ts';

/** A signal that aborts with another one, or by itself when time is up. `end` it: it holds a timer and a listener until then. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether time was up. */
  readonly missed: boolean;
  /** Counts anew: `ms` from now. Cheap enough for each byte that comes. */
  extend(ms: number): void;
  end(): void;
}

export function deadlineWithin(ms: number, clock: Clock, parent: AbortSignal): Deadline {
  const controller = new AbortController();
  let missed = false;
  let untilMs = clock.monotonicMs() + ms;
  let timerAtMs = untilMs;
  const onTime = (): void => {
    if (clock.monotonicMs() < untilMs) {
      arm();
      return;
    }
    missed = true;
    controller.abort(new Error('the deadline was missed'));
  };
  const arm = (): void => {
    timer.unsubscribe();
    timerAtMs = untilMs;
    timer = clock.schedule(onTime, Math.max(0, untilMs - clock.monotonicMs()));
  };
  let timer = clock.schedule(onTime, ms);
  const onAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    get missed() {
      return missed;
    },
    // Later ends are found when the timer fires; a new one each time would cost more than it saves.
    extend: (ms) => {
      untilMs = clock.monotonicMs() + ms;
      if (untilMs < timerAtMs) arm();
    },
    end: () => {
      timer.unsubscribe();
      parent.removeEventListener('abort', onAbort);
    },
  };
}
