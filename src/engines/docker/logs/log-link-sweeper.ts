import type { Clock } from '../../../base/clock.ts';
import type { Staged } from '../../../ports/staged.ts';
import type { LogLinks } from './log-links.ts';

export interface LogLinkSweeperDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly links: Pick<LogLinks, 'sweep'>;
}

/** How often the kubelet collects garbage (pkg/kubelet ContainerGCPeriod). */
const SWEEP_MS = 60_000;

/** Removes the log links of containers that others have removed, whether their pod is declared or not. */
export function logLinkSweeper({ clock, links }: LogLinkSweeperDeps): Staged {
  return {
    name: 'links to lost logs',
    stage: 'beside pods',
    run: async (signal) => {
      while (!signal.aborted) {
        await links.sweep(signal);
        await clock.sleep(SWEEP_MS, signal).catch(() => {});
      }
    },
  };
}
