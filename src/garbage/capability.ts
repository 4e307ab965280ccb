import { firstOf } from '../base/first-of.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Reclaimer } from '../ports/node-participant.ts';
import { DeadContainers } from './dead-containers.ts';

/** How often the kubelet looks (pkg/kubelet/kubelet.go ContainerGCPeriod). */
const PERIOD_MS = 60_000;

/** Dead containers go where they are too many, or the node needs their room. */
export function capability({ options, live, clock, folded, engine, pods, statuses, pleg }: NodeParts): Contribution {
  const dead = new DeadContainers({
    runtime: engine.runtime,
    pods,
    statuses,
    policy: () => ({
      minAgeMs: live.now.minimumContainerTtlMs,
      maxPerPodContainer: live.now.maximumDeadContainersPerContainer,
      maxContainers: options.maximumDeadContainers,
    }),
    clock,
    log: folded,
  });
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await dead.enforceLimit(await firstOf(pleg.relists, signal), signal);
      } catch (error) {
        if (signal.aborted) return;
        folded.warn('dead containers cannot be collected; trying again in a minute', { error });
      }
      await clock.sleep(PERIOD_MS, signal).catch(() => {});
    }
  };
  // Engines do not say how much that frees.
  const reclaim = async (signal: AbortSignal): Promise<undefined> => {
    await dead.removeUnused(signal);
    return undefined;
  };
  const of = (resource: Reclaimer['resource']): Reclaimer => ({ name: 'dead containers', resource, reclaim });
  return {
    reclaim: [of('nodefs'), of('containerfs')],
    services: options.maximumDeadContainers < 0 ? [] : [{ name: 'dead containers', stage: 'beside pods', run }],
  };
}
