import { unlessAborted } from '../base/unless-aborted.ts';
import type { ImageService, ListedImage } from '../ports/image-service.ts';
import { isNamedBy } from './is-named-by.ts';

/** Removals that are under way. Who is about to look for an image waits for the end of its removal: what it finds then stays. */
export class ImageRemovals {
  readonly #images: Pick<ImageService, 'removeImage'>;
  readonly #underWay = new Map<ListedImage, Promise<void>>();

  constructor(images: Pick<ImageService, 'removeImage'>) {
    this.#images = images;
  }

  /** Counts from the moment of the call on. Rejects as `removeImage`. */
  async remove(image: ListedImage, signal: AbortSignal): Promise<void> {
    const removal = this.#images.removeImage(image.id, signal);
    this.#underWay.set(
      image,
      removal.catch(() => {}),
    );
    try {
      await removal;
    } finally {
      this.#underWay.delete(image);
    }
  }

  /** Resolves when no image of this name, digest or id is being removed. Rejects with the signal's reason. */
  async settled(name: string, signal: AbortSignal): Promise<void> {
    for (const [image, removal] of this.#underWay) if (isNamedBy(image, name)) await unlessAborted(removal, signal);
  }
}
