import type { Clock } from '../../base/clock.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { EngineFeatures } from '../../ports/engine-features.ts';

/** So long may another engine at the same place go unnoticed. */
const FRESH_MS = 60_000;

/** What the engine can do, asked for once in a while. */
export class KnownFeatures<F extends EngineFeatures = EngineFeatures> {
  readonly #ask: (signal: AbortSignal) => Promise<F>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #known: { readonly features: F; readonly atMs: number } | undefined;
  #asking: Promise<F> | undefined;

  constructor(ask: (signal: AbortSignal) => Promise<F>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** As it said last; undefined: it has not yet. */
  get last(): F | undefined {
    return this.#known?.features;
  }

  /** Rejects with the engine's error. */
  async now(signal: AbortSignal): Promise<F> {
    if (this.#known !== undefined && this.#clock.monotonicMs() - this.#known.atMs < FRESH_MS) return this.#known.features;
    // One question for all who ask now: none of them aborts it.
    this.#asking ??= this.#answer().finally(() => (this.#asking = undefined));
    return unlessAborted(this.#asking, signal);
  }

  async #answer(): Promise<F> {
    const features = await this.#ask(new AbortController().signal);
    this.#known = { features, atMs: this.#clock.monotonicMs() };
    return features;
  }
}
