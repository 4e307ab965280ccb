import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';

export interface LastKnownOptions<T> {
  /** Asks anew. Its signal aborts with the agent's, or when the answer takes longer than `deadlineMs`. */
  readonly read: (signal: AbortSignal) => Promise<T>;
  readonly clock: Clock;
  /** An answer as old is asked for again. */
  readonly maxAgeMs: number;
  /** How long somebody who asks waits for an answer before taking the last one. */
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
    const done = new AbortController();
    using either = anySignal(signal, done.signal);
    const stop = either.signal;
    try {
      const deadline = clock.sleep(deadlineMs, stop).then(() => Promise.reject(new Error(`no answer within ${deadlineMs / 1000} s`)));
      const value = await Promise.race([options.read(stop), deadline]);
      known = { value, atMs: clock.monotonicMs() };
    } catch (error) {
      if (!signal.aborted) options.onError?.(error);
    } finally {
      reading = undefined;
      done.abort();
    }
  };

  return async (signal) => {
    signal.throwIfAborted();
    if (known && clock.monotonicMs() - known.atMs < maxAgeMs) return known.value;
    reading ??= read(signal);
    const waited = new AbortController();
    using either = anySignal(signal, waited.signal);
    const patience = clock.sleep(waitMs, either.signal).catch(() => {});
    await Promise.race([reading, patience]);
    waited.abort();
    signal.throwIfAborted();
    return known?.value;
  };
}
