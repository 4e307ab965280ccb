import { hugePageBytes, isHugePageMedium } from '../model/huge-page-medium.ts';
import { memoryVolumeBytes } from '../model/memory-volume-size.ts';
import { makeVolumeDirectory } from './volume-directory.ts';
import { setVolumeOwnership } from './volume-ownership.ts';
import { volumeKind } from './volume-kind.ts';

/** A directory that lives as long as the pod, on disk, in memory or in huge pages (pkg/volume/emptydir). A size limit on disk is the eviction's to hold. */
export const emptyDirVolume = volumeKind('emptyDir', {
  plugin: 'kubernetes.io~empty-dir',
  setUp: async ({ medium = '', sizeLimit }, { pod, directory, mounts, facts, giving }) => {
    const ofHugePages = isHugePageMedium(medium);
    if (medium !== '' && medium !== 'Memory' && !ofHugePages) throw new Error(`unknown storage medium "${medium}"`);
    const pageBytes = ofHugePages ? hugePageBytes(medium, pod) : undefined;
    const fsGroup = pod.spec.securityContext?.fsGroup;
    await makeVolumeDirectory(directory, fsGroup);
    if (medium === 'Memory') {
      const sizeBytes = memoryVolumeBytes(pod, sizeLimit, facts.allocatable()['memory']);
      await mounts.tmpfs(directory, { sizeBytes, fsGroup });
    }
    if (pageBytes !== undefined) {
      await mounts.hugePages(directory, pageBytes);
      if (fsGroup !== undefined) await giving(() => setVolumeOwnership(directory, { fsGroup, readOnly: false }));
    }
    return { hostPath: directory, readOnly: false, isOwn: true };
  },
});
