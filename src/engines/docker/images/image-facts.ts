import type { Clock } from '../../../base/clock.ts';
import { LruMap } from '../../../base/lru-map.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { inspectImage } from '../client/inspect-image.ts';

/** What a container's status and user need of its image. */
export interface ImageFacts {
  readonly user: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
}

/** An image's configuration never changes under its id, its names may: so long may they be out of date. */
const FRESH_MS = 60_000;
const MAX_ENTRIES = 1000;

/** Image inspections, remembered for a minute: a pod is looked at far more often than its image is renamed. */
export class ImageFactsCache {
  readonly #client: EngineClient;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #entries = new LruMap<string, { readonly facts: ImageFacts; readonly atMs: number }>(MAX_ENTRIES);

  constructor(client: EngineClient, clock: Pick<Clock, 'monotonicMs'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Undefined when the engine does not have the image. Only ids are remembered. */
  async get(image: string, signal: AbortSignal): Promise<ImageFacts | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#entries.get(image);
    if (known !== undefined && nowMs - known.atMs < FRESH_MS) return known.facts;
    const info = await inspectImage(this.#client, image, signal);
    const facts = info && { user: info.Config.User, repoTags: info.RepoTags, repoDigests: info.RepoDigests };
    if (facts === undefined) this.#entries.delete(image);
    else if (image.startsWith('sha256:')) this.#entries.set(image, { facts, atMs: nowMs });
    return facts;
  }
}
