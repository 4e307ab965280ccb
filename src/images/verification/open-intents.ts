import type { ImageInfo, ListedImage } from '../../ports/image-service.ts';
import { isNamedBy } from '../is-named-by.ts';

type Names = Pick<ImageInfo, 'id' | 'repoTags' | 'repoDigests'>;

interface OpenIntent {
  /** How many pulls of it are under way. */
  pulls: number;
  /** Of one that was, it is not known what came of it. */
  isUnknown: boolean;
  /** The image of that name before the first of them; undefined: there was none, or it is not known. */
  readonly before: string | undefined;
  /** The last look at all images has not found it. */
  isMissed: boolean;
}

/** What has come of a pull that was stopped, or that an agent was killed in. */
export interface Outcome {
  /** As it was asked for. */
  readonly image: string;
  /** The images that it may have brought; none: it has brought none. */
  readonly pulled: readonly string[];
}

/** Pulls of which it is not recorded yet what they have brought: those under way, and those that were stopped or died with an agent. */
export class OpenIntents {
  readonly #open = new Map<string, OpenIntent>();

  get size(): number {
    return this.#open.size;
  }

  /** Of an agent that is gone. */
  found(image: string): void {
    this.#of(image).isUnknown = true;
  }

  /** `before`: the image of that name that is there already, if that is known. */
  begun(image: string, before: string | undefined): void {
    this.#of(image, before).pulls++;
  }

  /** What a pull has brought is recorded. Whether nothing more is to be known of the image. */
  succeeded(image: string): boolean {
    const intent = this.#ended(image);
    if (intent.pulls === 0) this.#open.delete(image);
    return intent.pulls === 0;
  }

  /** A pull has brought nothing. Whether nothing more is to be known of the image. */
  failed(image: string): boolean {
    const { pulls, isUnknown } = this.#ended(image);
    if (pulls > 0 || isUnknown) return false;
    this.#open.delete(image);
    return true;
  }

  /** It is not known what came of a pull: `outcomes` tell. The image of that name before it; undefined: there was none, or it is not known. */
  stopped(image: string): string | undefined {
    const intent = this.#ended(image);
    intent.isUnknown = true;
    return intent.before;
  }

  /** Whether it may be what an open pull has brought, whatever name it is asked for by. */
  mayHaveBrought(image: Names): boolean {
    return [...this.#open].some(([name, { before }]) => before !== image.id && isNamedBy(image, name));
  }

  /** Of those that no pull is under way of. What is not there is looked for once more: an engine may still be at work. */
  outcomes(listed: readonly ListedImage[]): readonly Outcome[] {
    const outcomes: Outcome[] = [];
    for (const [image, intent] of this.#open) {
      if (intent.pulls > 0) continue;
      const found = listed.filter((each) => isNamedBy(each, image));
      if (found.length === 0 && !intent.isMissed) intent.isMissed = true;
      else outcomes.push({ image, pulled: found.map(({ id }) => id).filter((id) => id !== intent.before) });
    }
    return outcomes;
  }

  /** An outcome is recorded. Whether no pull has begun since. */
  settled(image: string): boolean {
    if ((this.#open.get(image)?.pulls ?? 0) > 0) return false;
    return this.#open.delete(image);
  }

  #ended(image: string): OpenIntent {
    const intent = this.#of(image);
    intent.pulls = Math.max(0, intent.pulls - 1);
    return intent;
  }

  #of(image: string, before?: string): OpenIntent {
    const intent = this.#open.get(image) ?? { pulls: 0, isUnknown: false, before, isMissed: false };
    intent.isMissed = false;
    this.#open.set(image, intent);
    return intent;
  }
}
