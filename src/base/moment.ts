import type { Clock } from './clock.ts';

/** One moment on both of the clock's times. */
export interface Moment {
  /** `Clock.now`: to be shown or stored. */
  readonly dateMs: number;
  /** `Clock.monotonicMs`: to count from. */
  readonly monotonicMs: number;
}

export function momentOf(clock: Pick<Clock, 'now' | 'monotonicMs'>): Moment {
  return { dateMs: clock.now(), monotonicMs: clock.monotonicMs() };
}

/**
 * Where a date that has come from elsewhere lies on the clock's monotonic time: now where the date is still to come, and no earlier than
 * `earliestMs`, a moment at which it is known not to have come yet. Ask once, when the date is first heard of, and keep the answer: what is
 * counted from it takes no notice of a date that is set later.
 */
export function monotonicOf(dateMs: number, clock: Pick<Clock, 'now' | 'monotonicMs'>, earliestMs = Number.NEGATIVE_INFINITY): number {
  const nowMs = clock.monotonicMs();
  const agoMs = Math.max(0, clock.now() - dateMs);
  return Math.min(nowMs, Math.max(earliestMs, nowMs - agoMs));
}

/** The date of a moment on the clock's monotonic time, as the clock's date is now: to tell people when. */
export function dateOf(monotonicMs: number, clock: Pick<Clock, 'now' | 'monotonicMs'>): number {
  return clock.now() + monotonicMs - clock.monotonicMs();
}

/**
 * How long ago a moment was at most, by whichever of the clock's two times says longer: for what ages while the machine is suspended, too.
 * A date that is set back makes nothing younger; one that is set forward makes it older once.
 */
export function agoAtMost({ dateMs, monotonicMs }: Moment, clock: Pick<Clock, 'now' | 'monotonicMs'>): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.now() - dateMs);
}
