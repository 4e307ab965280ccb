import { isDeepStrictEqual } from 'node:util';
import { parseThresholds } from '../model/eviction/parse-thresholds.ts';
import type { Threshold } from '../model/eviction/threshold.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodParticipant } from '../ports/pod-participant.ts';
import { EvictionManager } from './eviction-manager.ts';
import { refusalUnderPressure } from './refusal-under-pressure.ts';

/** Pods are ended before the node runs out of memory, disk or processes, and none are taken that would make it worse. */
export function capability(node: NodeParts): Contribution {
  const { options, live } = node;
  const thresholds = thresholdsOf(node);
  const manager = new EvictionManager(node, () => ({
    thresholds: thresholds(),
    transitionMs: live.now.evictionPressureTransitionPeriodMs,
    maxPodGraceSeconds: live.now.evictionMaxPodGracePeriodSeconds,
    localStorageCapacityIsolation: options.localStorageCapacityIsolation,
  }));
  const admit: PodParticipant['admit'] = async (pod) => refusalUnderPressure(pod, manager.pressures);
  return {
    pod: { admit, wouldAdmit: admit },
    node: { conditions: () => manager.conditions(), changes: manager.changes },
    services: [{ name: 'eviction', stage: 'beside pods', run: (signal, given) => manager.run(given, signal) }],
  };
}

/** The same list as long as nothing of it has changed. */
function thresholdsOf({ options, live }: Pick<NodeParts, 'options' | 'live'>): () => readonly Threshold[] {
  let known: { readonly of: readonly unknown[]; readonly thresholds: readonly Threshold[] } | undefined;
  return () => {
    const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = live.now;
    const of = [evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim];
    if (known === undefined || !isDeepStrictEqual(known.of, of))
      known = { of, thresholds: parseThresholds({ ...options, ...live.now }).thresholds };
    return known.thresholds;
  };
}
