import type { CgroupHierarchy } from '../../src/base/cgroup-hierarchy.ts';

/** Control groups of version 2 in which there is nothing. */
export const someCgroups: CgroupHierarchy = { root: '/dev/null/cgroup', version: 2, missing: [], mixedIn: [] };
