import type { Container } from '../model/pod.ts';
import type { ImagePuller } from '../ports/image-puller.ts';
import type { ImageRemovals } from './image-removals.ts';

/** The same puller, which looks for no image as long as that is being removed: what it finds would be gone a moment later. */
export function afterRemovals(removals: Pick<ImageRemovals, 'settled'>, puller: ImagePuller): ImagePuller {
  const settled = ({ image }: Container, signal: AbortSignal): Promise<void> => removals.settled(image ?? '', signal);
  return {
    ensureImage: async (pod, container, signal) => {
      await settled(container, signal);
      return puller.ensureImage(pod, container, signal);
    },
    presentImage: async (pod, container, signal) => {
      await settled(container, signal);
      return puller.presentImage(pod, container, signal);
    },
  };
}
