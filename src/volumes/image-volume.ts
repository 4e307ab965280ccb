import { volumeKind } from './volume-kind.ts';

/** An image, read-only: it is pulled before a container that mounts it starts (pkg/volume/image), and mounted by the engine, or exported. */
export const imageVolume = volumeKind('image', {
  plugin: 'kubernetes.io~image',
  setUp: async (_source, { directory }) => ({ hostPath: directory, readOnly: true, isImage: true, isOwn: true }),
});
