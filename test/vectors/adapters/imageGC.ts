import { type FileSystemIn, type ImageIn, runImageGc } from './image-gc.ts';

interface In {
  readonly op: 'garbageCollect' | 'deleteUnused';
  readonly policy: { readonly highThresholdPercent: number; readonly lowThresholdPercent: number; readonly minAgeSec: number };
  readonly fs?: FileSystemIn;
  readonly images?: readonly ImageIn[];
  readonly newImages?: readonly ImageIn[];
  readonly sandboxImage?: string;
}

/** Then, no image was too old, and the sandboxes' was the only one pinned. */
export function run(input: In): Promise<unknown> {
  const pinned = (image: ImageIn): ImageIn => ({ ...image, pinned: image.id === input.sandboxImage });
  return runImageGc({
    ...input,
    policy: { ...input.policy, maxAgeSec: 0 },
    kubeletAgeSec: 0,
    images: input.images?.map(pinned),
    newImages: input.newImages?.map(pinned),
  });
}
