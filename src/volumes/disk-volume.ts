import { realpath } from 'node:fs/promises';
import type { DiskOrder } from './disks/disk-order.ts';
import type { VolumeMount, VolumeSource, VolumeTask } from './volume-kind.ts';
import { makeMountPoint } from './volume-directory.ts';
import { giveToGroup } from './volume-ownership.ts';

/** A disk, whichever pod has it. */
export interface NodeDisk extends Pick<DiskOrder, 'plugin' | 'place' | 'uniqueName' | 'record' | 'attach' | 'otherThan'> {
  /** Its files are given to the group of the pod that comes first, and keep that for as long as a pod has them. */
  readonly isGivenOnce?: boolean;
}

/** A disk of the node: mounted once for all pods, and shown to each; or as a device, as its claim wants it. */
export async function setUpDisk(
  disk: NodeDisk,
  source: { readonly fsType?: string | undefined; readonly readOnly?: boolean | undefined },
  claimed: VolumeSource['claimed'],
  task: VolumeTask,
  signal: AbortSignal,
): Promise<VolumeMount> {
  const { pod, name, directory, mountOptions, mounts, hostFiles, giving, disks } = task;
  const { isGivenOnce = false, ...order } = disk;
  const { fsType = '' } = source;
  const readOnly = task.readOnly || source.readOnly === true;
  const isBlock = claimed?.persistent.spec?.volumeMode === 'Block';
  const hostPath = await disks.publish({ ...order, uid: pod.metadata.uid, name, isBlock, fsType, readOnly, mountOptions }, signal);
  if (isBlock) return { hostPath, readOnly, isHosts: true };
  if (!(await mounts.isShown(hostPath, directory))) {
    const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    // Once it is shown, all of it has been given, whatever came between.
    if (fsGroup !== undefined && !readOnly && !(isGivenOnce && (await isShownToPods(hostPath, task))))
      await giving(() => hostFiles.run(giveToGroup, { directory: hostPath, ownership: { fsGroup, policy, readOnly } }, signal));
    await makeMountPoint(directory);
    // A program that an agent before this one has started may show what was there before the disk, or after it.
    await mounts.release(directory, signal);
    await mounts.mount(directory, { type: 'bind', source: hostPath, options: readOnly ? ['ro'] : [] }, signal);
    if (!(await mounts.isShown(hostPath, directory))) throw new Error(`what is mounted at ${directory} is not the disk`);
  }
  return { hostPath: directory, readOnly, isHosts: true, ...(!readOnly && { isOwn: true }) };
}

/** Whether a pod has what is mounted there for the node. */
async function isShownToPods(directory: string, { mounts, podsDir }: VolumeTask): Promise<boolean> {
  const pods = `${await realpath(podsDir).catch(() => podsDir)}/`;
  return (await mounts.showing(directory)).some((path) => path.startsWith(pods));
}
