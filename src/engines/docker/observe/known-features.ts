import type { Clock } from '../../../base/clock.ts';
import { unlessAborted } from '../../../base/unless-aborted.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { type DockerFeatures, engineFeatures } from './engine-features.ts';

/** So long may another engine at the same place go unnoticed. */
const FRESH_MS = 60_000;

/** What the engine can do, asked for once in a while. */
export class KnownFeatures {
  readonly #client: EngineClient;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #known: { readonly features: DockerFeatures; readonly atMs: number } | undefined;
  #asking: Promise<DockerFeatures> | undefined;

  constructor(client: EngineClient, clock: Pick<Clock, 'monotonicMs'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** As it said last; undefined: it has not yet. */
  get last(): DockerFeatures | undefined {
    return this.#known?.features;
  }

  /** Rejects with the engine's error. */
  async now(signal: AbortSignal): Promise<DockerFeatures> {
    if (this.#known !== undefined && this.#clock.monotonicMs() - this.#known.atMs < FRESH_MS) return this.#known.features;
    // One question for all who ask now: none of them aborts it.
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return unlessAborted(this.#asking, signal);
  }

  async #ask(): Promise<DockerFeatures> {
    const features = await engineFeatures(this.#client, new AbortController().signal);
    this.#known = { features, atMs: this.#clock.monotonicMs() };
    return features;
  }
}
