import { podSources } from '../../model/host-privileges.ts';
import { bool, duration, string, strings } from '../kinds.ts';
import { option } from '../option.ts';

const removed = 'newer Kubernetes releases let admission controllers of the API server decide';
const sources = podSources.join(', ');

/** Which pods may run here, and what they may have of the machine. */
export const admissionAndResourceOptions = {
  allowedUnsafeSysctls: option<readonly string[]>({
    flag: 'allowed-unsafe-sysctls',
    config: 'allowedUnsafeSysctls',
    kind: strings,
    default: [],
    defaultText: 'none',
    group: 'Pods',
    help: 'Sysctls that pods may set beside the safe ones, comma-separated; one that ends in * stands for all that begin so. May be repeated.',
  }),
  allowPrivileged: option<boolean>({
    flag: 'allow-privileged',
    config: 'allowPrivileged',
    kind: bool,
    default: true,
    group: 'Pods',
    help: 'Whether containers may be privileged. A pod that may not is refused.',
    deprecated: removed,
  }),
  hostNetworkSources: option<readonly string[]>({
    flag: 'host-network-sources',
    config: 'hostNetworkSources',
    kind: strings,
    default: ['*'],
    group: 'Pods',
    help: `From which sources a pod must come to use the node's network: ${sources}, comma-separated. Another is refused.`,
    deprecated: removed,
  }),
  hostPidSources: option<readonly string[]>({
    flag: 'host-pid-sources',
    config: 'hostPIDSources',
    kind: strings,
    default: ['*'],
    group: 'Pods',
    help: "The same for the node's processes.",
    deprecated: removed,
  }),
  hostIpcSources: option<readonly string[]>({
    flag: 'host-ipc-sources',
    config: 'hostIPCSources',
    kind: strings,
    default: ['*'],
    group: 'Pods',
    help: "The same for the node's shared memory and message queues.",
    deprecated: removed,
  }),
  seccompProfileRoot: option<string>({
    flag: 'seccomp-profile-root',
    formerField: 'seccompProfileRoot',
    kind: string,
    default: '',
    defaultText: 'seccomp in the root directory',
    group: 'Pods',
    help: 'The directory of the seccomp profiles that pods may name.',
    deprecated: 'newer Kubernetes releases have it in the root directory only',
  }),
  seccompDefault: option<boolean>({
    flag: 'seccomp-default',
    config: 'seccompDefault',
    kind: bool,
    default: false,
    group: 'Pods',
    help: "Whether containers that ask for no seccomp profile have the engine's own; otherwise they are not confined.",
  }),
  cpuCfsQuota: option<boolean>({
    flag: 'cpu-cfs-quota',
    config: 'cpuCFSQuota',
    kind: bool,
    default: true,
    group: 'Pods',
    help: 'Whether limits of CPU are enforced.',
  }),
  cpuCfsQuotaPeriodMs: option<number>({
    flag: 'cpu-cfs-quota-period',
    config: 'cpuCFSQuotaPeriod',
    kind: duration,
    default: 100,
    group: 'Pods',
    help: 'The period over which CPU time is shared out, from 1ms to 1s. No feature gate is needed.',
  }),
  singleProcessOomKill: option<boolean | undefined>({
    config: 'singleProcessOOMKill',
    kind: bool,
    default: undefined,
    group: 'Pods',
    help: 'Where memory runs out, kill one process of the container instead of all. Unset: all with cgroup v2, one with cgroup v1, which knows nothing else.',
  }),
} as const;
