import type { NodeStatus } from '../model/node.ts';

export interface NodeImage {
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly sizeBytes: number;
}

/** pkg/kubelet/nodestatus/setters.go MaxNamesPerImageInNodeStatus. */
const MAX_NAMES = 5;

/** The largest images, at most `max` unless that is -1, each with its digests and then its tags. */
export function nodeImages(images: readonly NodeImage[], max: number): NonNullable<NodeStatus['images']> {
  return imageStatuses(
    images.toSorted((a, b) => b.sizeBytes - a.sizeBytes),
    max,
  );
}

/** As above, of images that are in their order. */
export function imageStatuses(images: readonly NodeImage[], max: number): NonNullable<NodeStatus['images']> {
  return (max < 0 ? images : images.slice(0, max)).map(({ repoDigests, repoTags, sizeBytes }) => ({
    names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES),
    sizeBytes,
  }));
}
