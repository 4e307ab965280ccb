import { aborted } from '../../../base/aborted.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Staged } from '../../../ports/staged.ts';

/** So long until an engine that did not answer is asked again. */
const RETRY_MS = 10_000;

/** Runs until its signal aborts: what the engine has to be asked for is logged once, as soon as it answers. `log` rejects while it does not. */
export function saidOnce(log: (signal: AbortSignal) => Promise<void>, clock: Pick<Clock, 'sleep'>): Staged['run'] {
  return async (signal) => {
    while (!signal.aborted) {
      try {
        await log(signal);
        break;
      } catch {
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
    await aborted(signal);
  };
}
