import { bool } from '../kinds.ts';
import { option } from '../option.ts';

export const machineOptions = {
  failSwapOn: option<boolean | undefined>({
    flag: 'fail-swap-on',
    config: 'failSwapOn',
    kind: bool,
    default: undefined,
    unset: true,
    defaultText: 'false',
    group: 'Node',
    help: 'Whether the agent refuses to start on a machine with swap. Other than a kubelet it does so only where that is set.',
  }),
  failCgroupV1: option<boolean | undefined>({
    flag: 'fail-cgroupv1',
    config: 'failCgroupV1',
    kind: bool,
    default: undefined,
    unset: true,
    defaultText: 'false',
    group: 'Node',
    help: 'Whether the agent refuses to start on a machine with cgroup v1. Other than a kubelet it does so only where that is set.',
  }),
};
