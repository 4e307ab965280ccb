import { containerHash, wholeContainerHash } from '../../model/container-hash.ts';
import { type ImageName, parseImageName } from '../../model/image-name.ts';
import type { Container } from '../../model/pod.ts';
import type { ObservedContainer } from '../../ports/container-runtime.ts';

type Observed = Pick<ObservedContainer, 'specHash' | 'imageNames'>;

/**
 * Whether what runs is the container that is wanted (containerChanged in pkg/kubelet/kuberuntime). Other kubelets, cri-dockerd's among them,
 * and earlier versions of this agent noted down hashes of the whole spec: of those the image decides, by its names in the engine.
 */
export function isMadeFrom({ specHash, imageNames }: Observed, container: Container): boolean {
  if (specHash === containerHash(container) || specHash === wholeContainerHash(container)) return true;
  const { name, image = '' } = container;
  // Noted down as today, for another name of the image.
  if (imageNames === undefined || imageNames.some((other) => specHash === containerHash({ name, image: other }))) return false;
  return isNamed(image, imageNames);
}

/** Whether the image has this name, or had it: one that has lost its tags to a newer image was once called by one of them. */
function isNamed(image: string, names: readonly string[]): boolean {
  if (names.includes(image)) return true;
  const wanted = parsed(image);
  if (wanted === undefined) return false;
  const ofRepo = names.flatMap((name) => parsed(name) ?? []).filter(({ repo }) => repo === wanted.repo);
  if (wanted.digest !== '') return ofRepo.some(({ digest }) => digest === wanted.digest);
  const tags = ofRepo.flatMap(({ tag }) => (tag === '' ? [] : [tag]));
  return ofRepo.length > 0 && (tags.length === 0 || tags.includes(wanted.tag));
}

function parsed(image: string): ImageName | undefined {
  try {
    return parseImageName(image);
  } catch {
    return undefined;
  }
}
