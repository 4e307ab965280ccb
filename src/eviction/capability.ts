import { parseThresholds } from '../model/eviction/parse-thresholds.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodParticipant } from '../ports/pod-participant.ts';
import { EvictionManager } from './eviction-manager.ts';
import { refusalUnderPressure } from './refusal-under-pressure.ts';

/** Pods are ended before the node runs out of memory, disk or processes, and none are taken that would make it worse. */
export function capability(node: NodeParts): Contribution {
  const { options } = node;
  const manager = new EvictionManager(node, {
    thresholds: parseThresholds(options).thresholds,
    transitionMs: options.evictionPressureTransitionPeriodMs,
    maxPodGraceSeconds: options.evictionMaxPodGracePeriodSeconds,
    localStorageCapacityIsolation: options.localStorageCapacityIsolation,
  });
  const admit: PodParticipant['admit'] = async (pod) => refusalUnderPressure(pod, manager.pressures);
  return {
    pod: { admit, wouldAdmit: admit },
    node: { conditions: () => manager.conditions(), changes: manager.changes },
    services: [{ name: 'eviction', stage: 'beside pods', run: (signal, given) => manager.run(given, signal) }],
  };
}
