import { volumeKind, VolumeRefusedError } from './volume-kind.ts';

/** An image, read-only: it is pulled before a container that mounts it starts, and mounted by the engine (pkg/volume/image). */
export const imageVolume = volumeKind('image', {
  plugin: 'kubernetes.io~image',
  setUp: async (_source, { engineFeatures }, signal) => {
    if (!(await engineFeatures(signal)).imageVolumes)
      throw new VolumeRefusedError('this container engine cannot mount images: a Docker Engine of 28 or later can');
    return { hostPath: '', readOnly: true, isImage: true };
  },
});
