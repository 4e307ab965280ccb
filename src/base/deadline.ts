import { type AnySignal, anySignal } from './any-signal.ts';
import type { Clock } from './clock.ts';

/** A signal that aborts with another one, or by itself when time is up. Dispose of it: it holds a timer and a listener until then. */
export interface Deadline extends AnySignal {
  /** Whether time was up. */
  readonly missed: boolean;
  /** `ms` from now, whatever was left. Cheap enough for each byte that comes. */
  extend(ms: number): void;
}

/** `late` says what takes too long, or makes the reason to abort with at the moment when time is up. */
export function deadline(
  clock: Pick<Clock, 'monotonicMs' | 'schedule'>,
  ms: number,
  late: string | (() => Error),
  signal: AbortSignal,
): Deadline {
  const own = anySignal(signal);
  let missed = false;
  let untilMs = clock.monotonicMs() + ms;
  let timerAtMs = untilMs;
  const onTime = (): void => {
    if (clock.monotonicMs() < untilMs) {
      arm();
      return;
    }
    missed = true;
    own.abort(typeof late === 'string' ? new Error(`${late} took longer than ${ms / 1000} s`) : late());
  };
  const arm = (): void => {
    timer.unsubscribe();
    timerAtMs = untilMs;
    timer = clock.schedule(onTime, Math.max(0, untilMs - clock.monotonicMs()));
  };
  let timer = clock.schedule(onTime, ms);
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    get missed() {
      return missed;
    },
    // Later ends are found when the timer fires; a new one each time would cost more than it saves.
    extend: (fromNowMs) => {
      untilMs = clock.monotonicMs() + fromNowMs;
      if (untilMs < timerAtMs) arm();
    },
    [Symbol.dispose]: () => {
      timer.unsubscribe();
      own[Symbol.dispose]();
    },
  };
}
