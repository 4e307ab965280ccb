import { realpath, stat } from 'node:fs/promises';
import { realPath } from '../base/real-path.ts';
import type { HostTask } from '../ports/host-files.ts';
import { type NodeDisk, setUpDisk } from './disk-volume.ts';
import { mountTable, otherMountsOf } from './mount-table.ts';
import type { MountedDevice } from './mounts.ts';
import { makeMountPoint } from './volume-directory.ts';
import type { KindOf, VolumeKind, VolumeMount, VolumeTask } from './volume-kind.ts';
import { giveToGroup } from './volume-ownership.ts';

/**
 * A directory of this node that a persistent volume names, shown to each pod at a place of its own; or a block device of it: what is on it is mounted once
 * and shown to each, or pods have the device (pkg/volume/local).
 */
export const localVolume: KindOf = ({ local, claimed }) => {
  if (!local) return undefined;
  const { path, fsType } = local;
  const kind: VolumeKind = {
    plugin: 'kubernetes.io~local-volume',
    changes: false,
    takesMountOptions: true,
    setUp: async (task, signal) => {
      if (path.split('/').includes('..')) throw new Error(`invalid path: ${path} must not contain '..'`);
      const { real, device, isDirectory } = await task.hostFiles.run(findLocal, { path }, signal);
      const isBlock = claimed?.persistent.spec?.volumeMode === 'Block';
      if (isBlock && device === undefined)
        throw new Error(`local volume ${path} is not a block device, which its volumeMode Block asks for`);
      if (!isDirectory && device === undefined) throw new Error(`local volume ${path}: only directory and block device are supported`);
      const disk = device === undefined ? undefined : diskOf(task.name, real, device);
      const made = disk
        ? await setUpDisk(disk, { fsType }, claimed, task, signal)
        : await task.turns.runWithin(real, signal, () => showDirectory(path, real, task, signal));
      const { pod, name, readOnly, growth, disks } = task;
      const claim = claimed?.claim.metadata?.name;
      // A directory and a device are as large as they are: that is told of alone.
      const grow = async (growing: AbortSignal): Promise<void> => (disk && !isBlock ? disks.grow(disk, growing) : undefined);
      if (claim !== undefined && !readOnly) growth.keep({ pod, name, claim, grow });
      return made;
    },
  };
  return kind;
};

async function showDirectory(
  path: string,
  real: string,
  { pod, directory, readOnly, mountOptions, mounts, hostFiles, giving, podsDir }: VolumeTask,
  signal: AbortSignal,
): Promise<VolumeMount> {
  const pods = `${await realpath(podsDir).catch(() => podsDir)}/`;
  const isFirst = !otherMountsOf(await mountTable(), real).some((other) => other.startsWith(pods));
  const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
  // The group of the pod that came first, which keeps the volume. Once it is mounted all of it has been given, whatever came between.
  if (!readOnly && isFirst && fsGroup !== undefined) {
    await giving(() => hostFiles.run(giveToGroup, { directory: real, ownership: { fsGroup, policy, readOnly } }, signal));
  }
  await makeMountPoint(directory);
  await mounts.mount(directory, { type: 'bind', source: path, options: [...(readOnly ? ['ro'] : []), ...mountOptions] }, signal);
  return { hostPath: directory, readOnly, isHosts: true, ...(!readOnly && { isOwn: true }) };
}

/** The device belongs to the machine: nobody attaches it, and it is never taken from the node. */
const diskOf = (name: string, real: string, device: string): NodeDisk => ({
  plugin: 'local-volume',
  // No two persistent volumes of a cluster have the same name.
  place: name,
  uniqueName: undefined,
  isGivenOnce: true,
  attach: async () => real,
  otherThan: async (mounted) =>
    (await isMountOf(mounted, real, device)) ? undefined : `${mounted.source} is still mounted for this volume, which is ${real} by now`,
});

/** Whether it may be of that device. The mapper's devices have names beside their own. */
export async function isMountOf(mounted: MountedDevice, real: string, device: string): Promise<boolean> {
  if (mounted.device === device || mounted.source === real) return true;
  // One that may have several devices, as btrfs, has a number of its own, and is called after any of them.
  if (mounted.device.startsWith('0:')) return true;
  return mounted.source.startsWith('/dev/') && (await realpath(mounted.source).catch(() => undefined)) === real;
}

/** What a path leads to. */
export interface FoundLocal {
  /** Without links. */
  readonly real: string;
  readonly isDirectory: boolean;
  /** Of a block device: major:minor. */
  readonly device?: string;
}

/** Looks at the path, opens nothing. */
export const findLocal: HostTask<{ readonly path: string }, FoundLocal> = {
  name: 'findLocal',
  run: async ({ path }, touch) => {
    const real = await realPath(path, touch);
    const found = await touch(real, () => stat(real, { bigint: true }));
    return { real, isDirectory: found.isDirectory(), ...(found.isBlockDevice() && { device: numberOf(found.rdev) }) };
  },
};

/** As mountinfo has it (makedev(3)). */
const numberOf = (rdev: bigint): string =>
  `${((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & ~0xfffn)}:${(rdev & 0xffn) | ((rdev >> 12n) & ~0xffn)}`;
