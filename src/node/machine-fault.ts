import type { KubeletOptions } from '../options/kubelet-options.ts';

export interface MachineAsFound {
  /** Undefined: that could not be read. */
  readonly swapBytes: number | undefined;
  /** Undefined: there are no cgroups. */
  readonly cgroup: 1 | 2 | undefined;
}

/**
 * Why the agent is not to run on this machine; undefined: it is. A kubelet refuses swap and cgroup v1 by default; many of our users' machines
 * have them, so here that has to be asked for (pkg/kubelet/cm, cmd/kubelet/app).
 */
export function machineFault(
  { failSwapOn, failCgroupV1 }: Pick<KubeletOptions, 'failSwapOn' | 'failCgroupV1'>,
  { swapBytes, cgroup }: MachineAsFound,
): string | undefined {
  if (failSwapOn === true && swapBytes !== undefined && swapBytes > 0)
    return `running with swap on is not supported, please disable swap or set --fail-swap-on flag to false (failSwapOn): /proc/meminfo shows ${swapBytes} bytes of it`;
  if (failCgroupV1 === true && cgroup === 1)
    return 'kubelet is configured to not run on a host using cgroup v1: move it to cgroup v2 or set failCgroupV1 to false';
  return undefined;
}
