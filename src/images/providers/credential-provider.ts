import type { Clock } from '../../base/clock.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { DockerConfigEntry } from '../docker-config.ts';
import { imageMatches } from './image-matches.ts';
import type { ProviderAnswer } from './provider-answer.ts';
import type { ProviderSpec } from './provider-faults.ts';

export interface CredentialProviderDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Asks the provider's program. Rejects with words for people. */
  readonly ask: (image: string) => Promise<ProviderAnswer>;
}

interface Kept {
  readonly entries: readonly DockerConfigEntry[];
  readonly untilMs: number;
}

/** Images that pods name come from users: those that were not asked for lately are asked for again. */
const MAX_KEPT = 1_000;
const GLOBAL = 'global';

/** What one provider knows of registries: its program is run where no earlier answer counts (pluginProvider in pkg/credentialprovider/plugin). */
export class CredentialProvider {
  readonly #spec: Pick<ProviderSpec, 'matchImages' | 'defaultCacheMs'>;
  readonly #deps: CredentialProviderDeps;
  readonly #kept = new LruMap<string, Kept>(MAX_KEPT);
  /** By image: of many that ask at once, one does. */
  readonly #asking = new Map<string, Promise<readonly DockerConfigEntry[]>>();

  constructor(spec: Pick<ProviderSpec, 'matchImages' | 'defaultCacheMs'>, deps: CredentialProviderDeps) {
    this.#spec = spec;
    this.#deps = deps;
  }

  /** `image` without tag and digest. Empty where the provider is not for it. Rejects where it fails. */
  async provide(image: string): Promise<readonly DockerConfigEntry[]> {
    if (!this.#spec.matchImages.some((pattern) => imageMatches(pattern, image))) return [];
    const kept = this.#keptFor(image);
    if (kept) return kept;
    const asking = this.#asking.get(image) ?? this.#ask(image).finally(() => this.#asking.delete(image));
    this.#asking.set(image, asking);
    return asking;
  }

  #keptFor(image: string): readonly DockerConfigEntry[] | undefined {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const key of [image, registryOf(image), GLOBAL]) {
      const kept = this.#kept.get(key);
      if (kept && nowMs <= kept.untilMs) return kept.entries;
      if (kept) this.#kept.delete(key);
    }
    return undefined;
  }

  async #ask(image: string): Promise<readonly DockerConfigEntry[]> {
    const { entries, cacheKeyType, cacheMs = this.#spec.defaultCacheMs ?? 0 } = await this.#deps.ask(image);
    const key = keys.get(cacheKeyType)?.(image);
    if (key === undefined) throw new Error(`credential provider plugin did not return a valid cacheKeyType: ${cacheKeyType}`);
    if (cacheMs !== 0) this.#kept.set(key, { entries, untilMs: this.#deps.clock.monotonicMs() + cacheMs });
    return entries;
  }
}

const registryOf = (image: string): string => image.split('/', 1)[0] ?? '';

const keys = new Map<string, (image: string) => string>([
  ['Image', (image) => image],
  ['Registry', registryOf],
  ['Global', () => GLOBAL],
]);
