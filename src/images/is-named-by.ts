import { type ImageName, parseImageName } from '../model/image-name.ts';
import type { ListedImage } from '../ports/image-service.ts';

/** Whether `name`, as a pod has it, means the image: one of its tags, one of its digests, or its id. */
export function isNamedBy({ id, repoTags, repoDigests }: Pick<ListedImage, 'id' | 'repoTags' | 'repoDigests'>, name: string): boolean {
  if (name === id) return true;
  const wanted = parse(name);
  if (wanted === undefined) return false;
  const { repo, tag, digest } = wanted;
  if (digest !== '') return id === digest || repoDigests.some((each) => parse(each)?.digest === digest);
  return repoTags.some((each) => {
    const has = parse(each);
    return has?.repo === repo && has.tag === tag;
  });
}

/** Undefined for what is no name of an image: it names none. */
function parse(name: string): ImageName | undefined {
  try {
    return parseImageName(name);
  } catch {
    return undefined;
  }
}
