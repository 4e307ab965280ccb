import { parseImageName } from '../../model/image-name.ts';
import type { ImageInfo } from '../../ports/image-service.ts';

/**
 * Whether what the engine found is what `image` names. The engine also takes a name for the beginning of an id: "beef" would find
 * sha256:beef… (pkg/kubelet/dockershim/libdocker/helpers.go).
 */
export function imageMatches({ id, repoTags, repoDigests }: Pick<ImageInfo, 'id' | 'repoTags' | 'repoDigests'>, image: string): boolean {
  if (id === image) return true;
  const wanted = parse(image);
  if (wanted === undefined) return false;
  const { tag, digest } = wanted;
  if (tag !== '' && repoTags.some((t) => eitherEndsWith(t, image) || eitherEndsWith(fullName(t), image))) return true;
  return digest !== '' && (id === digest || repoDigests.some((d) => parse(d)?.digest === digest));
}

/** Either name may lack its registry. */
function eitherEndsWith(a: string, b: string): boolean {
  return a !== '' && (a.endsWith(b) || b.endsWith(a));
}

function fullName(repoTag: string): string {
  const parsed = parse(repoTag);
  return parsed === undefined ? '' : `${parsed.repo}:${parsed.tag}`;
}

function parse(image: string): ReturnType<typeof parseImageName> | undefined {
  try {
    return parseImageName(image);
  } catch {
    return undefined;
  }
}
