import type { PodRefusal } from '../model/pod-admission.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { TopologyHint, TopologyHints } from '../model/topology-hint.ts';

/**
 * Who gives containers something of NUMA nodes for themselves, and lets the nodes be chosen together with what others give (HintProvider in
 * pkg/kubelet/cm/topologymanager). Asked while a pod is admitted, one pod after the other; what it gave it takes back in its own `release`.
 */
export interface TopologyHintProvider {
  /** From where the container could be given what it asks for. Empty: nothing is asked for here. */
  hints(pod: Pod, container: Container): TopologyHints;
  /** The same, of all containers of the pod at one time. */
  podHints(pod: Pod): TopologyHints;
  /** Gives the container what it asks for, from the hint's nodes as far as these have it. Once is enough: asked again, what was given stays. */
  allocate(pod: Pod, container: Container, hint: TopologyHint, signal: AbortSignal): Promise<PodRefusal | undefined>;
}
