import type { PodUid } from '../../src/model/pod.ts';
import type { ContainerId } from '../../src/ports/container-runtime.ts';
import type { FilesystemStats, MemoryStats, NodeUsage, PodUsage } from '../../src/ports/pod-stats.ts';

export const MI = 2 ** 20;
export const GI = 2 ** 30;

/** What is left on a node; the rest of it is in use. */
export interface LeftOnNode {
  /** Of 8 GiB. */
  readonly memory: number;
  /** Of what all pods together may use. */
  readonly allocatableMemory?: number;
  /** Of 100 GiB, and of 1000 inodes. */
  readonly nodeFs: number;
  readonly nodeFsInodes: number;
  /** Of another 100 GiB; undefined: images lie where all else does. */
  readonly imageFs?: number;
  /** Of 1000. */
  readonly pids: number;
}

export const plenty: LeftOnNode = { memory: 4 * GI, nodeFs: 50 * GI, nodeFsInodes: 500, pids: 900 };

export const memoryInUse = (atMs: number, workingSetBytes: number, availableBytes?: number): MemoryStats => ({
  atMs,
  usageBytes: workingSetBytes,
  workingSetBytes,
  rssBytes: 0,
  pageFaults: 0,
  majorPageFaults: 0,
  ...(availableBytes === undefined ? {} : { availableBytes }),
});

/** A node of 8 GiB of memory, 100 GiB of disk and 1000 processes. */
export function nodeUsage(left: LeftOnNode, atMs: number): NodeUsage {
  const disk = (availableBytes: number, fileSystem: string): FilesystemStats => ({
    atMs,
    availableBytes,
    capacityBytes: 100 * GI,
    inodesFree: left.nodeFsInodes,
    inodes: 1000,
    fileSystem,
  });
  const { memory, allocatableMemory, nodeFs, imageFs, pids } = left;
  return {
    startedAtMs: 0,
    memory: memoryInUse(atMs, 8 * GI - memory, memory),
    fs: disk(nodeFs, '8:1'),
    imageFs: imageFs === undefined ? disk(nodeFs, '8:1') : disk(imageFs, '8:2'),
    pids: { atMs, max: 1000, running: 1000 - pids },
    systemContainers: [
      {
        id: 'pods' as ContainerId,
        name: 'pods',
        startedAtMs: 0,
        memory: memoryInUse(atMs, GI, allocatableMemory),
      },
    ],
  };
}

/** A pod of one container "app" that uses so much. */
export function podUsage(name: string, { memory = 0, disk = 0 }: { readonly memory?: number; readonly disk?: number }, atMs = 0): PodUsage {
  const rootfs = { atMs, usedBytes: disk, inodesUsed: disk / MI };
  return {
    uid: `uid-${name}` as PodUid,
    name,
    namespace: 'default',
    startedAtMs: 0,
    containers: [
      {
        id: `${name}-app` as ContainerId,
        name: 'app',
        startedAtMs: 0,
        memory: memoryInUse(atMs, memory),
        rootfs,
        logs: { atMs, usedBytes: 0 },
      },
    ],
    memory: memoryInUse(atMs, memory),
    volumes: [],
    ephemeralStorage: rootfs,
    processes: 1,
  };
}
