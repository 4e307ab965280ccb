import type { DiskOrder } from './disks/disk-order.ts';
import type { VolumeMount, VolumeTask } from './volume-kind.ts';
import { makeMountPoint } from './volume-directory.ts';
import { giveToGroup } from './volume-ownership.ts';

/** A disk that the node attaches: mounted once for all pods, and shown to each; or as a device, as its claim wants it. */
export async function setUpDisk(
  disk: Pick<DiskOrder, 'plugin' | 'place' | 'uniqueName' | 'record' | 'attach'> & {
    readonly fsType?: string;
    readonly readOnly?: boolean;
  },
  task: VolumeTask,
  isBlock: boolean,
  signal: AbortSignal,
): Promise<VolumeMount> {
  const { pod, name, directory, mountOptions, mounts, hostFiles, disks } = task;
  const readOnly = task.readOnly || disk.readOnly === true;
  const { fsType = '', ...rest } = disk;
  const hostPath = await disks.publish({ ...rest, uid: pod.metadata.uid, name, isBlock, fsType, readOnly, mountOptions }, signal);
  if (isBlock) return { hostPath, readOnly, isHosts: true };
  if (!(await mounts.isShown(hostPath, directory))) {
    const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    // Once it is shown, all of it has been given, whatever came between.
    if (fsGroup !== undefined && !readOnly)
      await hostFiles.run(giveToGroup, { directory: hostPath, ownership: { fsGroup, policy, readOnly } }, signal);
    await makeMountPoint(directory);
    // A program that an agent before this one has started may show what was there before the disk, or after it.
    await mounts.release(directory, signal);
    await mounts.mount(directory, { type: 'bind', source: hostPath, options: readOnly ? ['ro'] : [] }, signal);
    if (!(await mounts.isShown(hostPath, directory))) throw new Error(`what is mounted at ${directory} is not the disk`);
  }
  return { hostPath: directory, readOnly, isHosts: true, ...(!readOnly && { isOwn: true }) };
}
