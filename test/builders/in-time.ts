import { systemClock } from '../../src/base/clock.ts';
import { unlessAborted } from '../../src/base/unless-aborted.ts';
import { withDeadline } from '../../src/base/with-deadline.ts';

/** As `work`, but rejects where that takes longer, saying `what` did: a test that hangs names what hangs, and the others are run. */
export function inTime<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  return withDeadline(systemClock, ms, what, new AbortController().signal, (signal) => unlessAborted(work, signal));
}
