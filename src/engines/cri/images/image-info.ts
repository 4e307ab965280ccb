import type { ImageInfo } from '../../../ports/image-service.ts';
import type { Image } from '../api/runtime_pb.js';

/** A name that is none, of an image that lost its own: "<none>:<none>". */
const isNamed = (name: string): boolean => !name.includes('<none>');

/** An image as a runtime that speaks CRI has it: names and id as it says them ("docker.io/library/busybox:1.35", "…@sha256:…"). */
export function imageInfo({ id, repoTags, repoDigests, size, uid, username }: Image): ImageInfo {
  return {
    id,
    repoTags: repoTags.filter(isNamed),
    repoDigests: repoDigests.filter(isNamed),
    sizeBytes: Number(size),
    user: uid === undefined ? username : String(uid.value),
  };
}
