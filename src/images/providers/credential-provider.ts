import type { Clock } from '../../base/clock.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { DockerConfigEntry } from '../docker-config.ts';
import type { AskedFor, ProviderAccount } from './account-of-pod.ts';
import { imageMatches } from './image-matches.ts';
import type { ProviderAnswer } from './provider-answer.ts';
import type { ProviderSpec } from './provider-faults.ts';

export interface CredentialProviderDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Asks the provider's program. Rejects with words for people. */
  readonly ask: (image: string, account: ProviderAccount | undefined) => Promise<ProviderAnswer>;
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
  /** By image and who is told of: of many that ask at once, one does. */
  readonly #asking = new Map<string, Promise<readonly DockerConfigEntry[]>>();

  constructor(spec: Pick<ProviderSpec, 'matchImages' | 'defaultCacheMs'>, deps: CredentialProviderDeps) {
    this.#spec = spec;
    this.#deps = deps;
  }

  /**
   * `image` without tag and digest. `askedFor` says in whose name it is asked, and is itself asked only where the provider is for the image.
   * Undefined where the provider is not asked. Rejects where it fails.
   */
  async provide(image: string, askedFor: () => Promise<AskedFor> = nobody): Promise<readonly DockerConfigEntry[] | undefined> {
    if (!this.#spec.matchImages.some((pattern) => imageMatches(pattern, image))) return undefined;
    const account = await askedFor();
    if (account && 'notAsked' in account) return undefined;
    const kept = this.#keptFor(image, account);
    if (kept) return kept;
    const key = keyFor(image, account?.askKey);
    const asking = this.#asking.get(key) ?? this.#ask(image, account).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  #keptFor(image: string, account: ProviderAccount | undefined): readonly DockerConfigEntry[] | undefined {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const base of [image, registryOf(image), GLOBAL]) {
      const key = keyFor(base, account?.cacheKey);
      const kept = this.#kept.get(key);
      if (kept && nowMs <= kept.untilMs) return kept.entries;
      if (kept) this.#kept.delete(key);
    }
    return undefined;
  }

  async #ask(image: string, account: ProviderAccount | undefined): Promise<readonly DockerConfigEntry[]> {
    const { entries, cacheKeyType, cacheMs = this.#spec.defaultCacheMs ?? 0 } = await this.#deps.ask(image, account);
    if (account && !account.mayBePassword && entries.some(({ password }) => password === account.token))
      throw new Error(
        `credential provider plugin returned the service account token as the password for image ${JSON.stringify(image)}, which is not allowed when service account cache type is not set to 'Token'`,
      );
    const key = keys.get(cacheKeyType)?.(image);
    if (key === undefined) throw new Error(`credential provider plugin did not return a valid cacheKeyType: ${cacheKeyType}`);
    if (cacheMs !== 0) this.#kept.set(keyFor(key, account?.cacheKey), { entries, untilMs: this.#deps.clock.monotonicMs() + cacheMs });
    return entries;
  }
}

const nobody = (): Promise<undefined> => Promise.resolve(undefined);
/** No name of an image has a line's end. */
const keyFor = (base: string, account: string | undefined): string => (account === undefined ? base : `${base}\n${account}`);
const registryOf = (image: string): string => image.split('/', 1)[0] ?? '';

const keys = new Map<string, (image: string) => string>([
  ['Image', (image) => image],
  ['Registry', registryOf],
  ['Global', () => GLOBAL],
]);
