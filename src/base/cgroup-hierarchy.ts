import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readTextFile } from './read-text-file.ts';

/** How the kernel's control groups are mounted on this machine. */
export interface CgroupHierarchy {
  /** "/sys/fs/cgroup" */
  readonly root: string;
  /** Undefined: there are none. */
  readonly version: 1 | 2 | undefined;
  /** Of those by which pods are counted: cpu, memory, pids, io. */
  readonly missing: readonly string[];
  /** Controllers that are on version 2 while the rest is on version 1. */
  readonly mixedIn: readonly string[];
}

/** What counts pods' use, by its name in version 2, and the names in version 1 that do the same. */
const counting: Readonly<Record<string, readonly string[]>> = {
  cpu: ['cpuacct', 'cpu,cpuacct'],
  memory: ['memory'],
  pids: ['pids'],
  io: ['blkio'],
};

/** Version 2 where the root is one itself, else version 1 with a directory for each controller. Never rejects. */
export async function readCgroupHierarchy(root = '/sys/fs/cgroup'): Promise<CgroupHierarchy> {
  const controllersIn = async (directory: string): Promise<readonly string[] | undefined> =>
    (await readTextFile(join(directory, 'cgroup.controllers')).catch(() => undefined))?.split(/\s+/).filter((name) => name !== '');
  const unified = await controllersIn(root);
  if (unified !== undefined) {
    return { root, version: 2, missing: Object.keys(counting).filter((name) => !unified.includes(name)), mixedIn: [] };
  }
  const mounted = new Set(await readdir(root).catch((): string[] => []));
  const missing = Object.entries(counting)
    .filter(([, names]) => !names.some((name) => mounted.has(name)))
    .map(([name]) => name);
  const version = missing.length === Object.keys(counting).length ? undefined : 1;
  return { root, version, missing, mixedIn: (await controllersIn(join(root, 'unified'))) ?? [] };
}

/** "v1", "v2", "v1 and v2 (hugetlb)", "none": for the log. */
export function cgroupsInShort({ version, mixedIn }: CgroupHierarchy): string {
  if (mixedIn.length > 0) return `v1 and v2 (${mixedIn.join(', ')})`;
  return version === undefined ? 'none' : `v${version}`;
}

/** What of pods is not measured because of it, and what to do; undefined: nothing is wrong. */
export function cgroupFault({ root, version, missing, mixedIn }: CgroupHierarchy): string | undefined {
  if (missing.length === 0) return undefined;
  const names = missing.join(', ');
  const elsewhere = missing.filter((name) => mixedIn.includes(name));
  if (elsewhere.length > 0) {
    return `the control groups in ${root} are mixed: ${elsewhere.join(', ')} of cgroup v2, the rest of v1; what pods use of ${names} is not reported. Boot with systemd.unified_cgroup_hierarchy=1`;
  }
  if (version === undefined) return `there are no control groups in ${root}: what pods use is not reported. Mount cgroup v2 there`;
  return `the control groups (v${version}) in ${root} have no ${names}: what pods use of it is not reported. Enable it on the kernel's command line (cgroup_enable=memory) or in the parent's cgroup.subtree_control`;
}
