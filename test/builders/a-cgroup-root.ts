import { getuid } from 'node:process';
import { readCgroupHierarchy } from '../../src/base/cgroup-hierarchy.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type CgroupFs, openCgroupFs } from '../../src/cgroups/cgroup-fs.ts';
import { CgroupManager } from '../../src/cgroups/cgroup-manager.ts';
import { silentHappenings } from '../fakes/silent-happenings.ts';

let serial = 0;

export interface CgroupRoot {
  /** "/rxlet-test-4711-1" */
  readonly path: string;
  readonly fs: CgroupFs;
  /** A file of a cgroup below it: `('/kubepods', 'memory', 'memory.max')`. */
  read(below: string, controller: 'cpu' | 'memory' | 'pids', file: string): Promise<string | undefined>;
  /** With all that runs in it. */
  remove(): Promise<void>;
}

/** A cgroup of this test's own in the real hierarchies, below which an agent makes its pods'. Undefined: there are none to be written. */
export async function aCgroupRoot(): Promise<CgroupRoot | undefined> {
  const { root, version } = await readCgroupHierarchy();
  if (version === undefined || getuid?.() !== 0) return undefined;
  const fs = await openCgroupFs(root, version);
  const path = `/rxlet-test-${process.pid}-${++serial}`;
  await fs.make(path);
  const manager = new CgroupManager({
    fs,
    driver: 'cgroupfs',
    slices: undefined,
    hugePageSizes: new Map(),
    clock: systemClock,
    tell: silentHappenings,
  });
  return {
    path,
    fs,
    read: (below, controller, file) => fs.read(`${path}${below}`, controller, file),
    remove: () => manager.destroy([path.slice(1)], new AbortController().signal),
  };
}
