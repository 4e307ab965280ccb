import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Service } from '../base/service.ts';
import { LogLinks } from './log-links.ts';
import { CONTAINER_LOGS_DIR, POD_LOGS_DIR } from './log-paths.ts';

export interface LogLinkSweeperDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** Elsewhere than usual, for tests. */
  readonly links?: Pick<LogLinks, 'sweep'>;
}

/** How often the kubelet collects garbage (pkg/kubelet ContainerGCPeriod). */
const SWEEP_MS = 60_000;

/** Removes the log links of containers that somebody else has removed: nobody else does, whether their pod is declared or not. */
export function logLinkSweeper({ clock, log, links = new LogLinks(POD_LOGS_DIR, CONTAINER_LOGS_DIR, log) }: LogLinkSweeperDeps): Service {
  return {
    name: 'links to lost logs',
    run: async (signal) => {
      while (!signal.aborted) {
        await links.sweep();
        await clock.sleep(SWEEP_MS, signal).catch(() => {});
      }
    },
  };
}
