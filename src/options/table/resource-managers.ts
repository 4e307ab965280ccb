import { duration, mapStringString, string } from '../kinds.ts';
import { memoryOfNodes, type MemoryOfNode } from '../memory-of-nodes.ts';
import { option } from '../option.ts';

type Texts = Readonly<Record<string, string>>;

/** Who has which CPUs and NUMA nodes of the machine for itself. */
export const resourceManagerOptions = {
  cpuManagerPolicy: option<string>({
    flag: 'cpu-manager-policy',
    config: 'cpuManagerPolicy',
    kind: string,
    default: 'none',
    group: 'Node',
    help: 'static gives containers of Guaranteed pods that ask for whole CPUs these CPUs for themselves; all others share the rest. It needs a reservation of CPU. none leaves all CPUs to all. To change it, drain the node and remove cpu_manager_state from the root directory.',
  }),
  cpuManagerPolicyOptions: option<Texts>({
    flag: 'cpu-manager-policy-options',
    config: 'cpuManagerPolicyOptions',
    kind: mapStringString,
    default: {},
    defaultText: 'none',
    group: 'Node',
    help: 'Of the static policy, true or false each: full-pcpus-only, strict-cpu-reservation, prefer-align-cpus-by-uncorecache, distribute-cpus-across-numa, and with the feature gate CPUManagerPolicyAlphaOptions align-by-socket and distribute-cpus-across-cores.',
  }),
  cpuManagerReconcilePeriodMs: option<number>({
    flag: 'cpu-manager-reconcile-period',
    config: 'cpuManagerReconcilePeriod',
    kind: duration,
    default: 10_000,
    group: 'Node',
    zeroInFileIsUnset: true,
    help: 'Of the static CPU manager: how often it is looked whether containers are on their CPUs, to put back what something else has moved; 0 by the flag: never. When CPUs change hands containers move at once, whatever this says.',
  }),
  memoryManagerPolicy: option<string>({
    flag: 'memory-manager-policy',
    config: 'memoryManagerPolicy',
    kind: string,
    default: 'None',
    group: 'Node',
    help: 'Static gives containers of Guaranteed pods their memory and huge pages from as few NUMA nodes as will do, and keeps it for them there. It needs reservedMemory. None lets all memory to all. To change it, drain the node and remove memory_manager_state from the root directory.',
  }),
  reservedMemory: option<readonly Partial<MemoryOfNode>[]>({
    flag: 'reserved-memory',
    config: 'reservedMemory',
    kind: memoryOfNodes,
    default: [],
    defaultText: 'none',
    group: 'Node',
    help: 'For the memory manager: how much of which NUMA node is kept from containers, such as 0:memory=1Gi, for each node again. All together it has to be what kubeReserved, systemReserved and evictionHard say of memory.',
  }),
  topologyManagerPolicy: option<string>({
    flag: 'topology-manager-policy',
    config: 'topologyManagerPolicy',
    kind: string,
    default: 'none',
    group: 'Node',
    help: 'From which NUMA nodes a container gets what is its own: none and best-effort take what they find, restricted refuses a pod that needs more nodes than it would on an empty machine, single-numa-node one that does not fit on one.',
  }),
  topologyManagerScope: option<string>({
    flag: 'topology-manager-scope',
    config: 'topologyManagerScope',
    kind: string,
    default: 'container',
    group: 'Node',
    help: 'Whether NUMA nodes are chosen for each container by itself (container), or once for all of the pod (pod).',
  }),
  topologyManagerPolicyOptions: option<Texts>({
    flag: 'topology-manager-policy-options',
    config: 'topologyManagerPolicyOptions',
    kind: mapStringString,
    default: {},
    defaultText: 'none',
    group: 'Node',
    help: 'prefer-closest-numa-nodes=true prefers NUMA nodes that are near to each other; max-allowable-numa-nodes=N, 8 or more, allows for more nodes than 8: each one doubles the work.',
  }),
} as const;
