import type { DiskOrder } from './disks/disk-order.ts';
import type { VolumeMount, VolumeSource, VolumeTask } from './volume-kind.ts';
import { makeMountPoint } from './volume-directory.ts';
import { giveToGroup } from './volume-ownership.ts';

/** A disk that the node attaches: mounted once for all pods, and shown to each; or as a device, as its claim wants it. */
export async function setUpDisk(
  disk: Pick<DiskOrder, 'plugin' | 'place' | 'uniqueName' | 'record' | 'attach'>,
  source: { readonly fsType?: string | undefined; readonly readOnly?: boolean | undefined },
  claimed: VolumeSource['claimed'],
  task: VolumeTask,
  signal: AbortSignal,
): Promise<VolumeMount> {
  const { pod, name, directory, mountOptions, mounts, hostFiles, giving, disks } = task;
  const { fsType = '' } = source;
  const readOnly = task.readOnly || source.readOnly === true;
  const isBlock = claimed?.persistent.spec?.volumeMode === 'Block';
  const hostPath = await disks.publish({ ...disk, uid: pod.metadata.uid, name, isBlock, fsType, readOnly, mountOptions }, signal);
  if (isBlock) return { hostPath, readOnly, isHosts: true };
  if (!(await mounts.isShown(hostPath, directory))) {
    const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    // Once it is shown, all of it has been given, whatever came between.
    if (fsGroup !== undefined && !readOnly)
      await giving(() => hostFiles.run(giveToGroup, { directory: hostPath, ownership: { fsGroup, policy, readOnly } }, signal));
    await makeMountPoint(directory);
    // A program that an agent before this one has started may show what was there before the disk, or after it.
    await mounts.release(directory, signal);
    await mounts.mount(directory, { type: 'bind', source: hostPath, options: readOnly ? ['ro'] : [] }, signal);
    if (!(await mounts.isShown(hostPath, directory))) throw new Error(`what is mounted at ${directory} is not the disk`);
  }
  return { hostPath: directory, readOnly, isHosts: true, ...(!readOnly && { isOwn: true }) };
}
