import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { OngoingFaults } from '../../base/ongoing-faults.ts';
import { aboutPod, type Pod } from '../../model/pod.ts';
import { optionsTable } from '../../options/options-table.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { PodObjects } from '../../ports/pod-objects.ts';
import type { DockerConfigEntry } from '../docker-config.ts';
import { accountOfPod, type AskedFor, serviceAccountOf } from './account-of-pod.ts';
import { askProvider } from './ask-provider.ts';
import { CredentialProvider } from './credential-provider.ts';
import type { ProviderSpec } from './provider-faults.ts';
import { type ProviderPaths, usableProviders } from './usable-providers.ts';

export { usableProviders };

export interface CredentialProvidersDeps extends ProviderPaths {
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly log: Logger;
  readonly tell: Pick<Happenings, 'credentialProvidersRead' | 'credentialProviderAsked'>;
  /** Where service accounts and their tokens are from; undefined: there is no API server. */
  readonly api: Pick<PodObjects, 'serviceAccount' | 'tokens'> | undefined;
}

/**
 * What the providers know of an image without tag and digest for a pod, a ring each, in their order. Never rejects: a provider that fails is
 * said.
 */
export type ProvidedCredentials = (image: string, pod: Pod, signal: AbortSignal) => Promise<readonly (readonly DockerConfigEntry[])[]>;

/**
 * Programs that know the credentials of registries (pkg/credentialprovider/plugin). Rejects with all that is wrong with their configuration,
 * and with programs that are not there. Their configuration is read once.
 */
export async function credentialProviders(deps: CredentialProvidersDeps): Promise<ProvidedCredentials> {
  const { path, directory, clock, log, tell, api } = deps;
  const { providers, hash, faults } = await usableProviders(deps);
  if (faults.length > 0) throw new Error(faults.map(({ option, fault }) => `--${optionsTable[option].flag} ${fault}`).join('; '));
  log.info('credential providers read', { path, hash, providers: providers.map(({ name }) => name) });
  tell.credentialProvidersRead({ hash });
  const idle = api ? [] : providers.filter(({ tokenAttributes }) => tokenAttributes?.required);
  for (const { name: provider } of idle)
    log.warn('credential provider is never asked: it requires service accounts, and there is no API server', { provider });
  const failing = new OngoingFaults<string>();
  const all = providers.map((spec) => ({
    spec,
    provider: new CredentialProvider(spec, {
      clock,
      ask: (image, account) => askProvider(spec, image, account, { directory, clock, tell }),
    }),
  }));
  const askedFor = async ({ name: provider, tokenAttributes }: ProviderSpec, pod: Pod, signal: AbortSignal): Promise<AskedFor> => {
    if (!tokenAttributes) return undefined;
    if (!api) return tokenAttributes.required ? { notAsked: 'there is no API server' } : undefined;
    const account = await accountOfPod(tokenAttributes, pod, { ...api, clock }, signal);
    if (account && 'notAsked' in account)
      log.v(5, 'credential provider not asked', { ...aboutPod(pod), provider, because: account.notAsked });
    return account;
  };
  return (image, pod, signal) =>
    Promise.all(
      all.map(async ({ spec, provider }) => {
        const { name } = spec;
        // What fails for one service account may not fail for another.
        const serviceAccount = spec.tokenAttributes ? `${pod.metadata.namespace}/${serviceAccountOf(pod)}` : undefined;
        const about = { provider: name, ...(serviceAccount !== undefined && { serviceAccount }) };
        const key = JSON.stringify(about);
        try {
          let account: AskedFor;
          const entries = await provider.provide(image, async () => (account = await askedFor(spec, pod, signal)));
          if (entries && failing.over(key)) log.info('credential provider answers again', about);
          return (entries ?? []).map((entry) => ({ ...entry, ...sourceOf(account) }));
        } catch (error) {
          if (!signal.aborted && failing.fault(key, error))
            log.warn('credential provider failed, pulling without it', { ...about, image, error });
          return [];
        }
      }),
    );
}

/** What it is told in nobody's name, every pod may use. */
const sourceOf = (account: AskedFor): Pick<DockerConfigEntry, 'source'> =>
  account && 'account' in account ? { source: { serviceAccount: account.account } } : {};
