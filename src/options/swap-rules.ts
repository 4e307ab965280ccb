import type { CgroupHierarchy } from '../base/cgroup-hierarchy.ts';
import type { MachineMemory } from '../base/machine-memory.ts';
import type { SwapRules } from '../model/swap-limit.ts';
import type { KubeletOptions } from './kubelet-options.ts';

/** Who may use swap, as the options and the machine have it. */
export const swapRules = (
  { swapBehavior }: Pick<KubeletOptions, 'swapBehavior'>,
  { version }: Pick<CgroupHierarchy, 'version'>,
  { bytes, swapBytes, limitsSwap }: MachineMemory,
): SwapRules => ({
  cgroup: version ?? 1,
  memoryCapacity: bytes,
  swapCapacity: swapBytes,
  swapController: limitsSwap,
  swapBehavior,
});
