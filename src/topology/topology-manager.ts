import type { PodRefusal } from '../model/pod-admission.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { TopologyHint, TopologyHints } from '../model/topology-hint.ts';
import type { TopologyHintProvider } from '../ports/topology-hint-provider.ts';
import { type HintRules, type MergedHint, mergeHints } from './merge-hints.ts';

export interface TopologyManagerDeps {
  /** Undefined: policy none, nothing is aligned. */
  readonly rules: HintRules | undefined;
  readonly scope: 'container' | 'pod';
  readonly providers: () => readonly TopologyHintProvider[];
}

const notAligned: TopologyHint = { nodes: undefined, preferred: false };

const affinityError: PodRefusal = { reason: 'TopologyAffinityError', message: 'Resources cannot be allocated with Topology locality' };

/**
 * Chooses the NUMA nodes of each container, or of a pod as a whole, and has all who give something of nodes give it from there
 * (pkg/kubelet/cm/topologymanager). Resolves with why the pod may not run; undefined: it may. What was given to a pod that is refused stays
 * until it is released.
 */
export async function alignPod(
  pod: Pod,
  { rules, scope, providers }: TopologyManagerDeps,
  signal: AbortSignal,
): Promise<PodRefusal | undefined> {
  const givers = providers();
  const merged = (hints: (giver: TopologyHintProvider) => TopologyHints): MergedHint =>
    rules ? mergeHints(givers.map(hints), rules) : { hint: notAligned, admitted: true };
  const ofPod = scope === 'pod' ? merged((giver) => giver.podHints(pod)) : undefined;
  const of = (container: Container): MergedHint => ofPod ?? merged((giver) => giver.hints(pod, container));
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    // What is allocated after that would never be released.
    signal.throwIfAborted();
    const { hint, admitted } = of(container);
    if (!admitted) return affinityError;
    for (const giver of givers) {
      const refusal = await giver.allocate(pod, container, hint, signal);
      if (refusal) return refusal;
    }
  }
  return undefined;
}
