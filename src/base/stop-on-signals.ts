import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignalName = keyof typeof exitCodes;

/** The part of `process` that is needed here. */
export interface SignalledProcess {
  on(name: StopSignalName, heard: () => void): unknown;
  exit(code: number): void;
}

/** One wish may come twice: `timeout` and `npm start` send on what the terminal or they themselves sent to the whole group. */
const ECHO_MS = 500;

/** Aborts on the first SIGTERM or SIGINT, so that the agent ends in good order; another one half a second later ends the process at once. */
export function stopOnSignals(process: SignalledProcess, log: Logger, clock: Pick<Clock, 'monotonicMs'>): AbortSignal {
  const stop = new AbortController();
  let firstMs = 0;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted && clock.monotonicMs() - firstMs < ECHO_MS) return;
      if (stop.signal.aborted) {
        log.warn('signal again, exiting at once', { signal: name });
        process.exit(exitCodes[name]);
        return;
      }
      firstMs = clock.monotonicMs();
      log.info('signal, stopping; again to exit at once', { signal: name });
      stop.abort(new Error(name));
    });
  }
  return stop.signal;
}
