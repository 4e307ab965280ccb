import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CgroupHierarchy } from '../base/cgroup-hierarchy.ts';
import type { CgroupPaths } from '../base/cgroup-paths.ts';
import type { CgroupLimits, DiskStats, PressureStats } from '../ports/pod-stats.ts';
import { limitFilesV1, limitFilesV2, limitsOfV1, limitsOfV2 } from './cgroup-limits.ts';
import {
  type CgroupFiles,
  cpuFilesV1,
  cpuFilesV2,
  cpuOfV1,
  cpuOfV2,
  type CpuUse,
  memoryFilesV1,
  memoryFilesV2,
  memoryOfV1,
  memoryOfV2,
  type MemoryUse,
  parseNumber,
} from './cgroup-texts.ts';
import { diskFilesV1, diskFilesV2, disksOfV1, disksOfV2 } from './disk-texts.ts';
import { parsePressure } from './pressure-text.ts';

/** What one cgroup's files tell. Undefined: the kernel does not count it there, or the cgroup is gone. */
export interface CgroupReader {
  cpu(paths: CgroupPaths): CpuUse | undefined;
  memory(paths: CgroupPaths): MemoryUse | undefined;
  tasks(paths: CgroupPaths): { readonly processes?: number; readonly threads?: number };
  /** `askedShares`: what the engine was asked for, where that is known. */
  limits(paths: CgroupPaths, askedShares?: number): CgroupLimits;
  pressure(paths: CgroupPaths): Omit<PressureStats, 'atMs'> | undefined;
  /** By the disks' numbers: "8:0". */
  disks(paths: CgroupPaths): ReadonlyMap<string, Omit<DiskStats, 'device'>> | undefined;
  /** The path that names the cgroup to people. */
  nameOf(paths: CgroupPaths): string | undefined;
  /** The same place in every hierarchy. */
  at(path: string): CgroupPaths;
}

/** Without any hierarchy it is a reader that finds nothing. */
export function cgroupReader({ root, version }: Pick<CgroupHierarchy, 'root' | 'version'>): CgroupReader {
  return version === 2 ? readerV2(root) : readerV1(root);
}

function readerV1(root: string): CgroupReader {
  /** Without a path of its own hierarchy the cgroup is not counted by that controller. */
  const read = <N extends string>(paths: CgroupPaths, names: readonly N[]): CgroupFiles<N> =>
    readAll(names, (name) => {
      const controller = name.slice(0, name.indexOf('.'));
      const path = paths.get(controller);
      if (path === undefined) return undefined;
      const own = textOf(join(root, controller, path, name));
      // Some systems mount cpu and cpuacct as one, without the names by themselves.
      return own ?? (controller === 'cpu' || controller === 'cpuacct' ? textOf(join(root, 'cpu,cpuacct', path, name)) : undefined);
    });
  return {
    cpu: (paths) => cpuOfV1(read(paths, cpuFilesV1)),
    memory: (paths) => memoryOfV1(read(paths, memoryFilesV1)),
    limits: (paths) => limitsOfV1(read(paths, limitFilesV1)),
    // Of version 1 the kernel tells of the whole machine only.
    pressure: () => undefined,
    disks: (paths) => disksOfV1(read(paths, diskFilesV1)),
    tasks: (paths) => tasksIn(join(root, 'pids', paths.get('pids') ?? paths.get('memory') ?? '/')),
    nameOf: (paths) => paths.get('memory') ?? paths.get('cpuacct'),
    at: (path) => new Map(['cpu', 'cpuacct', 'memory', 'pids', 'blkio'].map((controller) => [controller, path])),
  };
}

function readerV2(root: string): CgroupReader {
  const read = <N extends string>(paths: CgroupPaths, names: readonly N[]): CgroupFiles<N> =>
    readAll(names, (name) => textOf(join(root, paths.get('') ?? '/', name)));
  return {
    cpu: (paths) => cpuOfV2(read(paths, cpuFilesV2)),
    memory: (paths) => memoryOfV2(read(paths, memoryFilesV2)),
    limits: (paths, askedShares) => limitsOfV2(read(paths, limitFilesV2), askedShares),
    pressure: (paths) => pressureOf((name) => textOf(join(root, paths.get('') ?? '/', `${name}.pressure`))),
    disks: (paths) => disksOfV2(read(paths, diskFilesV2)),
    tasks: (paths) => tasksIn(join(root, paths.get('') ?? '/')),
    nameOf: (paths) => paths.get(''),
    at: (path) => new Map([['', path]]),
  };
}

/** From texts by name: cpu, memory, io. Undefined where the kernel counts none of them. */
export function pressureOf(read: (name: 'cpu' | 'memory' | 'io') => string | undefined): Omit<PressureStats, 'atMs'> | undefined {
  const [cpu, memory, io] = (['cpu', 'memory', 'io'] as const).map((name) => parsePressure(read(name)));
  if (cpu === undefined && memory === undefined && io === undefined) return undefined;
  return { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}), ...(io ? { io } : {}) };
}

function tasksIn(directory: string): { processes?: number; threads?: number } {
  const procs = textOf(join(directory, 'cgroup.procs'));
  const threads = parseNumber(textOf(join(directory, 'pids.current')));
  return {
    ...(procs === undefined ? {} : { processes: procs.split('\n').filter((line) => line !== '').length }),
    ...(threads === undefined ? {} : { threads }),
  };
}

function readAll<N extends string>(names: readonly N[], read: (name: N) => string | undefined): CgroupFiles<N> {
  return Object.fromEntries(names.map((name) => [name, read(name)])) as CgroupFiles<N>;
}

/**
 * Undefined when it is not there or not to be read: cgroups come and go. For what the kernel makes up when it is read, and a disk never
 * holds up: the thread pool would take five times as long.
 */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
