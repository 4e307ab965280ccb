import { usualBootIdFiles, usualMachineIdFiles } from '../../base/machine-facts.ts';
import { bool, strings } from '../kinds.ts';
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
  protectKernelDefaults: option<boolean | undefined>({
    flag: 'protect-kernel-defaults',
    config: 'protectKernelDefaults',
    kind: bool,
    default: undefined,
    unset: false,
    defaultText: 'the kernel is left as it is',
    group: 'Node',
    help: 'true: the agent refuses to start where settings of the kernel are not those that a kubelet wants: vm.overcommit_memory 1, vm.panic_on_oom 0, kernel.panic 10, kernel.panic_on_oops 1, kernel.keys.root_maxkeys 1000000, kernel.keys.root_maxbytes 25000000. false: it sets them. Other than a kubelet it does so only where that is set.',
  }),
  machineIdFiles: option<readonly string[]>({
    flag: 'machine-id-file',
    kind: strings,
    default: usualMachineIdFiles,
    group: 'Node',
    help: "Files that may hold the machine's id, comma-separated: the first that can be read counts.",
  }),
  bootIdFiles: option<readonly string[]>({
    flag: 'boot-id-file',
    kind: strings,
    default: usualBootIdFiles,
    group: 'Node',
    help: 'The same of the id of this boot.',
  }),
};
