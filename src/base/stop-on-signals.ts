import type { Logger } from './logger.ts';

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignalName = keyof typeof exitCodes;

/** The part of `process` that is needed here. */
export interface SignalledProcess {
  on(name: StopSignalName, heard: () => void): unknown;
  exit(code: number): void;
}

/** Aborts on the first SIGTERM or SIGINT, so that the agent ends in good order; a second one ends the process at once. */
export function stopOnSignals(process: SignalledProcess, log: Logger): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) {
        log.warn('signal again, exiting at once', { signal: name });
        process.exit(exitCodes[name]);
        return;
      }
      log.info('signal, stopping; again to exit at once', { signal: name });
      stop.abort(new Error(name));
    });
  }
  return stop.signal;
}
