import type { CgroupHierarchy } from '../../src/base/cgroup-hierarchy.ts';
import type { MachineMemory } from '../../src/base/machine-memory.ts';

/** Control groups of version 2 in which there is nothing. */
export const someCgroups: CgroupHierarchy = { root: '/dev/null/cgroup', version: 2, missing: [], mixedIn: [] };

/** 8 GiB, and no swap. */
export const someMemory: MachineMemory = { bytes: 8 * 2 ** 30, swapBytes: 0, limitsSwap: true };
