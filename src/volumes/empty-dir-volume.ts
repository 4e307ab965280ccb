import { Quantity } from '../model/quantity.ts';
import { makeVolumeDirectory } from './volume-directory.ts';
import { volumeKind } from './volume-kind.ts';

/** A directory that lives as long as the pod, on disk or in memory (pkg/volume/emptydir). A size limit on disk is the eviction's to hold. */
export const emptyDirVolume = volumeKind('emptyDir', {
  plugin: 'kubernetes.io~empty-dir',
  setUp: async ({ medium = '', sizeLimit }, { pod, directory, mounts }) => {
    if (medium.startsWith('HugePages')) throw new Error(`medium ${medium}: huge pages as a volume are not supported by this node`);
    if (medium !== '' && medium !== 'Memory') throw new Error(`unknown storage medium "${medium}"`);
    const fsGroup = pod.spec.securityContext?.fsGroup;
    await makeVolumeDirectory(directory, fsGroup);
    const sizeBytes = sizeLimit === undefined ? undefined : Quantity.fromJson(sizeLimit).value();
    if (medium === 'Memory') await mounts.tmpfs(directory, { sizeBytes, fsGroup });
    return { hostPath: directory, readOnly: false };
  },
});
