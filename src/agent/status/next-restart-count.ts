import { restartingAllContainers } from './pod-phase.ts';
import type { ContainerStatus } from '../../model/pod.ts';

/**
 * How often a container will have been restarted once it is started again, by the status that was shown last: for one of which the engine
 * has nothing any more. Kubernetes counts on by the names of log files since 1.22; of one that was lost while it ran the status has counted
 * the restart already.
 */
export function nextRestartCount(shown: ContainerStatus | undefined): number {
  if (shown === undefined) return 0;
  const { restartCount, state, lastState } = shown;
  const isCounted = state?.waiting !== undefined && lostReasons.has(lastState?.terminated?.reason ?? '');
  return isCounted || restartCount === 0 ? restartCount : restartCount + 1;
}

/** As container-statuses.ts gives them. */
const lostReasons: ReadonlySet<string> = new Set(['ContainerStatusUnknown', restartingAllContainers]);
