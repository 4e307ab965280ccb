import { filter } from 'rxjs';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import type { PodStatus } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { StatusChange } from '../ports/pod-statuses.ts';
import { groupedKills } from './grouped-kills.ts';

type OomNeeds = Pick<NodeParts, 'options' | 'cgroups' | 'engine' | 'statuses' | 'clock' | 'folded'>;

/** Where memory runs out, a container is killed whole: on cgroup v2, unless singleProcessOOMKill says otherwise (pkg/kubelet/kubelet.go). */
export function capability({ options, cgroups, engine, statuses, clock, folded: log }: OomNeeds, proc = '/proc'): Contribution {
  if (cgroups.version !== 2 || options.singleProcessOomKill === true) return {};
  const kills = groupedKills({ running: engine.running, cgroups, clock, log, proc });
  const run = (signal: AbortSignal): Promise<void> =>
    drainInto(
      statuses.changes.pipe(
        filter(hasStarted),
        // Rejects only when the agent stops, which ends the stream as well.
        coalesceMap(() => kills.setAll(signal).catch(() => {})),
      ),
      () => {},
      signal,
    );
  return { services: [{ name: 'OOM kills', stage: 'followers', run }] };
}

/** Whether the status shows a container running that did not run before. */
function hasStarted({ status, previous }: StatusChange): boolean {
  const before = runningIds(previous);
  return [...runningIds(status)].some((id) => !before.has(id));
}

function runningIds(status: PodStatus | undefined): ReadonlySet<string> {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return new Set(all.flatMap(({ containerID, state }) => (state?.running && containerID !== undefined ? [containerID] : [])));
}
