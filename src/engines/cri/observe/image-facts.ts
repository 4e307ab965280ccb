import type { Clock } from '../../../base/clock.ts';
import { LruMap } from '../../../base/lru-map.ts';
import { type ImageUser, parseImageUser } from '../../common/containers/security-context.ts';
import type { CriClient } from '../client/cri-client.ts';
import { inspectImage } from '../images/inspect-image.ts';

/** What a container's status and user need of its image. */
export interface ImageFacts {
  readonly user: ImageUser;
  /** Its id, tags and digests, and the tags of Docker Hub also as people write them. */
  readonly names: readonly string[];
}

/** An image's configuration never changes under its id, its names may: so long may they be out of date. */
const FRESH_MS = 60_000;
const MAX_ENTRIES = 1000;

/** Images as the runtime tells them, remembered for a minute: a pod is looked at far more often than its image is renamed. */
export class CriImageFacts {
  readonly #client: Pick<CriClient, 'call'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #known = new LruMap<string, { readonly facts: ImageFacts; readonly atMs: number }>(MAX_ENTRIES);

  constructor(client: Pick<CriClient, 'call'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Undefined when the runtime does not have the image. Only what is named by id or digest is remembered. */
  async get(image: string, signal: AbortSignal): Promise<ImageFacts | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#known.get(image);
    if (known !== undefined && nowMs - known.atMs < FRESH_MS) return known.facts;
    const found = await inspectImage(this.#client, image, signal);
    if (found === undefined) {
      this.#known.delete(image);
      return undefined;
    }
    const { id, repoTags, repoDigests, user } = found;
    const facts = { user: parseImageUser(user), names: [id, ...repoTags, ...repoTags.flatMap(familiar), ...repoDigests] };
    if (image.includes('sha256:')) this.#known.set(image, { facts, atMs: nowMs });
    return facts;
  }
}

/** "docker.io/library/busybox:1.35" is written "busybox:1.35" (distribution/reference FamiliarName). */
function familiar(name: string): readonly string[] {
  const short = /^docker\.io\/(?:library\/)?(.+)$/.exec(name)?.[1];
  return short === undefined ? [] : [short];
}
