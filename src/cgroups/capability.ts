import { filter, merge } from 'rxjs';
import { aborted } from '../base/aborted.ts';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { PodUid } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { absolutePath } from './absolute-path.ts';
import { nodeReservations } from './node-reservations.ts';
import { nodePaths, type NodePaths, PodsInCgroups } from './pods-in-cgroups.ts';
import { sweepOrphans } from './sweep-orphans.ts';

/** How often what many pods ask for together is brought to their classes, at most. */
const CLASSES_MS = 1000;

/** The pods' own cgroups, those that they are in together, and what of the node is kept from pods. Throws where more is kept than there is. */
export function capability(node: NodeParts, paths: NodePaths = nodePaths): Contribution {
  const { options, clock, pods, updates, statuses, pleg, folded: log } = node;
  const reserved = nodeReservations(node);
  if (options.systemCgroups !== '' && absolutePath(options.systemCgroups) === '/')
    throw new Error('invalid configuration: systemCgroups (--system-cgroups) cannot be the root "/"');
  if (!options.cgroupsPerQos) {
    const { kubeletCgroups, systemCgroups } = options;
    if (kubeletCgroups !== '' || systemCgroups !== '')
      log.warn('no process is moved to a cgroup: that takes cgroupsPerQOS', { kubeletCgroups, systemCgroups });
    return {};
  }
  const all = new PodsInCgroups(node, reserved, paths);

  const updateClasses = async (signal: AbortSignal): Promise<void> => {
    try {
      const active = pods.list().flatMap(({ pod }) => (isTerminalPhase(statuses.get(pod.metadata.uid)?.phase) ? [] : [pod]));
      await (await all.opened(signal))?.node.update(active);
    } catch (error) {
      log.warn('the cgroups of QoS classes are not up to date, trying again with the next change', { error });
    }
    await clock.sleep(CLASSES_MS, signal);
  };
  const release = async (uid: PodUid, signal: AbortSignal): Promise<void> => (await all.opened(signal))?.pods.release(uid, signal);
  return {
    pod: {
      prepare: async (pod, signal) => (await all.opened(signal))?.pods.prepare(pod),
      // Of one that there is it is looked for each time whether it is there still.
      isPrepared: () => all.isWithout,
      sandbox: (pod, signal) => all.parentOf(pod, signal),
      container: (pod, _container, _making, signal) => all.parentOf(pod, signal),
      cgroup: (uid) => all.settings(uid),
      tearDown: release,
      release,
      remains: async (uid, signal) => (await all.opened(signal))?.pods.remains(uid),
    },
    services: [
      {
        name: 'cgroups',
        stage: 'before pods',
        run: async (signal) => {
          await all.enforce(signal);
          await aborted(signal);
        },
      },
      ...(options.systemCgroups === ''
        ? []
        : [{ name: 'system cgroups', stage: 'beside pods' as const, run: (signal: AbortSignal) => all.keepSystemProcesses(signal) }]),
      {
        name: 'QoS cgroups',
        stage: 'followers',
        run: (signal) => {
          const ended = statuses.changes.pipe(filter(({ status }) => isTerminalPhase(status.phase)));
          // Rejects only when the agent stops, which ends the stream as well.
          const stream = merge(updates, ended).pipe(coalesceMap(() => updateClasses(signal).catch(() => {})));
          return drainInto<unknown>(stream, () => {}, signal);
        },
      },
      {
        name: 'orphaned cgroups',
        stage: 'beside pods',
        run: (signal) => drainInto<unknown>(sweepOrphans({ node, all, recoveries: pleg.recoveries, signal }), () => {}, signal),
      },
    ],
  };
}
