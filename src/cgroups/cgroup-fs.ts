import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, isMissingFile } from '../base/error-code.ts';
import type { CgroupWrite } from './cgroup-writes.ts';

/** What pods are limited by: where the machine has it, a cgroup is made with it. */
const wanted = ['cpu', 'cpuset', 'memory', 'pids', 'hugetlb', 'io'] as const;
/** Of version 2 beside version 1. */
const UNIFIED = 'unified';

/** Cgroups as files, all hierarchies of version 1 together. Paths are from the hierarchy's root: "/kubepods/burstable". */
export interface CgroupFs {
  readonly version: 1 | 2;
  /** What tells one cgroup from another that takes its place later; undefined: there is none. */
  identity(path: string): Promise<string | undefined>;
  /** With all above it. Safe to repeat. */
  make(path: string): Promise<void>;
  /** Rejects where the cgroup is gone, or the kernel refuses. What the machine has no controller for is left out. */
  write(path: string, write: CgroupWrite): Promise<void>;
  /** Undefined: no such file, or none to be read. */
  read(path: string, controller: CgroupWrite['controller'], file: string): Promise<string | undefined>;
  /** Names of the cgroups directly in it. */
  children(path: string): Promise<readonly string[]>;
  /** In it and below; those of another process namespace are 0. */
  processes(path: string): Promise<ReadonlySet<number>>;
  /** In it, and in none below. */
  members(path: string): Promise<ReadonlySet<number>>;
  /** With all below. Resolves where it is gone already; rejects with EBUSY while a process is in it. */
  remove(path: string): Promise<void>;
  /** A process moves there. */
  enter(path: string, pid: number): Promise<void>;
}

/** Rejects where the hierarchies cannot be listed. */
export async function openCgroupFs(root: string, version: 1 | 2): Promise<CgroupFs> {
  return version === 1 ? fsV1(root, await hierarchiesV1(root)) : fsV2(root);
}

/** By controller, the directory that it is in: "cpu,cpuacct" is that of two. */
async function hierarchiesV1(root: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(root, { withFileTypes: true })) {
    // A link is another name of one that is listed itself.
    if (!entry.isDirectory() || entry.name === UNIFIED) continue;
    // Where nothing is mounted: another system that runs on the same mounts, in namespaces of its own, leaves such directories, and engines
    // make theirs in them.
    if (!existsSync(join(root, entry.name, 'cgroup.procs'))) continue;
    for (const controller of entry.name.split(',')) found.set(controller, join(root, entry.name));
  }
  return found;
}

function fsV1(root: string, hierarchies: ReadonlyMap<string, string>): CgroupFs {
  const mounts = [...new Set(hierarchies.values())];
  const identifying = hierarchies.get('memory') ?? hierarchies.get('cpu') ?? mounts[0] ?? root;
  const cpuset = hierarchies.get('cpuset');
  const directoriesOf = (path: string): readonly string[] => mounts.map((mount) => join(mount, path));
  // Engines make each container's cgroup there, too, with those above it, and remove no more than its own.
  const withUnified = (path: string): readonly string[] => [...directoriesOf(path), join(root, UNIFIED, path)];
  return {
    ...onDirectories(directoriesOf, (path) => join(identifying, path)),
    ...removal(withUnified),
    version: 1,
    make: async (path) => {
      // Each hierarchy is on its own, and a pod waits for all of them.
      await Promise.all(directoriesOf(path).map((directory) => mkdir(directory, { recursive: true })));
      if (cpuset !== undefined) await Promise.all(['cpuset.cpus', 'cpuset.mems'].map((file) => fillFromAbove(cpuset, path, file)));
    },
    write: async (path, { controller, file, value }) => {
      const mount = hierarchies.get(controller);
      if (mount !== undefined) await writeFile(join(mount, path, file), value, { flag: 'r+' });
    },
    read: (path, controller, file) => textOf(join(hierarchies.get(controller) ?? root, path, file)),
  };
}

/** A new cpuset has no CPUs and no memory nodes, and no process may enter it so. Answers with what it has then. */
async function fillFromAbove(mount: string, path: string, file: string): Promise<string | undefined> {
  const at = join(mount, path, file);
  const own = await textOf(at);
  if (own !== '' || dirname(path) === path) return own;
  const above = await fillFromAbove(mount, dirname(path), file);
  if (above) await writeFile(at, above, { flag: 'r+' });
  return above;
}

function fsV2(root: string): CgroupFs {
  const directoryOf = (path: string): string => join(root, path);
  return {
    ...onDirectories((path) => [directoryOf(path)], directoryOf),
    version: 2,
    make: async (path) => {
      const parts = path.split('/').filter((part) => part !== '');
      for (const [depth] of parts.entries()) {
        const parent = join(root, ...parts.slice(0, depth));
        await passOn(parent);
        await mkdir(join(root, ...parts.slice(0, depth + 1)), { recursive: true });
      }
    },
    write: async (path, { controller, file, value }) => {
      await writeFile(join(root, path, file), value, { flag: 'r+' }).catch(async (error: unknown) => {
        // A controller that the kernel does not have has no files.
        if (!isMissingFile(error) || (await hasController(join(root, path), controller))) throw error;
      });
    },
    read: (path, _controller, file) => textOf(join(root, path, file)),
  };
}

async function hasController(directory: string, controller: string): Promise<boolean> {
  const controllers = await textOf(join(directory, 'cgroup.controllers'));
  return controllers === undefined || controllers.split(' ').includes(controller);
}

/** What a cgroup has of these controllers, those below it get, too. */
async function passOn(directory: string): Promise<void> {
  const [has = '', gives = ''] = await Promise.all(
    ['cgroup.controllers', 'cgroup.subtree_control'].map((file) => textOf(join(directory, file))),
  );
  const given = gives.split(' ');
  const more = has.split(' ').filter((name) => wanted.some((one) => one === name) && !given.includes(name));
  if (more.length === 0) return;
  await writeFile(join(directory, 'cgroup.subtree_control'), more.map((name) => `+${name}`).join(' '), { flag: 'r+' });
}

/** What is left, and its end. */
function removal(directoriesOf: (path: string) => readonly string[]): Pick<CgroupFs, 'children' | 'remove'> {
  return {
    children: async (path) => {
      const lists = await Promise.all(directoriesOf(path).map(childrenIn));
      return [...new Set(lists.flat())];
    },
    remove: async (path) => {
      for (const directory of directoriesOf(path)) await removeTree(directory);
    },
  };
}

/** What is alike in both versions. */
function onDirectories(
  directoriesOf: (path: string) => readonly string[],
  identifying: (path: string) => string,
): Pick<CgroupFs, 'identity' | 'children' | 'processes' | 'members' | 'remove' | 'enter'> {
  return {
    ...removal(directoriesOf),
    identity: async (path) => {
      const found = await stat(identifying(path), { bigint: true }).catch(unlessMissing);
      return found && `${found.dev}:${found.ino}`;
    },
    processes: async (path) => {
      const found = new Set<number>();
      for (const directory of directoriesOf(path)) await collectProcesses(directory, found);
      return found;
    },
    members: async (path) => new Set(await processesIn(identifying(path))),
    enter: async (path, pid) => {
      for (const directory of directoriesOf(path)) await writeFile(join(directory, 'cgroup.procs'), `${pid}`, { flag: 'r+' });
    },
  };
}

const unlessMissing = (error: unknown): undefined => {
  if (!isMissingFile(error)) throw error;
};

async function childrenIn(directory: string): Promise<readonly string[]> {
  const entries = (await readdir(directory, { withFileTypes: true }).catch(unlessMissing)) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function processesIn(directory: string): Promise<readonly number[]> {
  const text = (await textOf(join(directory, 'cgroup.procs'))) ?? '';
  return text.split('\n').flatMap((pid) => (pid === '' ? [] : [Number(pid)]));
}

async function collectProcesses(directory: string, found: Set<number>): Promise<void> {
  for (const pid of await processesIn(directory)) found.add(pid);
  for (const child of await childrenIn(directory)) await collectProcesses(join(directory, child), found);
}

async function removeTree(directory: string): Promise<void> {
  for (const child of await childrenIn(directory)) await removeTree(join(directory, child));
  await rmdir(directory).catch(unlessMissing);
}

/** ENODEV: the cgroup went between opening and reading. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isMissingFile(error) || errorCode(error) === 'ENODEV' || errorCode(error) === 'EOPNOTSUPP') return undefined;
    throw error;
  }
}
