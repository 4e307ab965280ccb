import { setUpDisk } from './disk-volume.ts';
import { fcDisk, fcPlace, fcUniqueName } from './disks/fc-disk.ts';
import type { KindOf, VolumeKind } from './volume-kind.ts';

/** A disk that the node reaches over Fibre Channel (pkg/volume/fc). */
export const fcVolume: KindOf = ({ fc, claimed }) => {
  if (!fc) return undefined;
  const kind: VolumeKind = {
    plugin: 'kubernetes.io~fc',
    changes: false,
    takesMountOptions: true,
    setUp: async (task, signal) => {
      const disk = fcDisk(fc);
      return setUpDisk(
        {
          plugin: 'fc',
          place: fcPlace(disk),
          uniqueName: fcUniqueName(disk),
          attach: (attaching) => task.disks.attachFc(disk, attaching),
        },
        fc,
        claimed,
        task,
        signal,
      );
    },
  };
  return kind;
};
