import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { unlessAborted } from '../base/unless-aborted.ts';

export interface LastKnownOptions<T> {
  /** Asks again. Its signal aborts with the agent's, or when the answer takes longer than `deadlineMs`. */
  readonly read: (signal: AbortSignal) => Promise<T>;
  readonly clock: Clock;
  /** An answer as old is asked for again. */
  readonly maxAgeMs: number;
  /** How long a caller waits for an answer before taking the last one. */
  readonly waitMs: number;
  readonly deadlineMs?: number;
  readonly onError?: (error: unknown) => void;
}

/** A fact that may be slow to get: fresh if it comes in time, else the last answer, or undefined before the first. Never rejects but for the signal's reason. */
export function lastKnown<T>(options: LastKnownOptions<T>): (signal: AbortSignal) => Promise<T | undefined> {
  const { clock, maxAgeMs, waitMs, deadlineMs = 30_000 } = options;
  let known: { readonly value: T; readonly atMs: number } | undefined;
  let reading: Promise<void> | undefined;

  const read = async (signal: AbortSignal): Promise<void> => {
    using within = deadline(clock, deadlineMs, () => new Error(`no answer within ${deadlineMs / 1000} s`), signal);
    try {
      const value = await unlessAborted(options.read(within.signal), within.signal);
      known = { value, atMs: clock.monotonicMs() };
    } catch (error) {
      if (!signal.aborted) options.onError?.(error);
    } finally {
      reading = undefined;
      // Ends what a reading that failed has still under way.
      within.abort();
    }
  };

  return async (signal) => {
    signal.throwIfAborted();
    if (known && clock.monotonicMs() - known.atMs < maxAgeMs) return known.value;
    reading ??= read(signal);
    using waited = anySignal(signal);
    const patience = clock.sleep(waitMs, waited.signal).catch(() => {});
    await Promise.race([reading, patience]);
    waited.abort();
    signal.throwIfAborted();
    return known?.value;
  };
}
