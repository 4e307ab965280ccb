import { mapStringString, string } from '../kinds.ts';
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
