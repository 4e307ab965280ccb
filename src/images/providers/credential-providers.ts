import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import { OngoingFaults } from '../../base/ongoing-faults.ts';
import { formatFieldError } from '../../model/validation/field-error.ts';
import type { DockerConfigEntry } from '../docker-config.ts';
import { askProvider } from './ask-provider.ts';
import { CredentialProvider } from './credential-provider.ts';
import { readProviders } from './provider-config.ts';
import { providerFaults } from './provider-faults.ts';

export interface CredentialProvidersDeps {
  /** --image-credential-provider-config: a file, or a directory of .json, .yaml and .yml files. */
  readonly path: string;
  /** --image-credential-provider-bin-dir */
  readonly directory: string;
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly log: Logger;
}

/** What the providers know of an image without tag and digest, a ring each, in their order. Never rejects: a provider that fails is said. */
export type ProvidedCredentials = (image: string) => Promise<readonly (readonly DockerConfigEntry[])[]>;

/**
 * Programs that know the credentials of registries (pkg/credentialprovider/plugin). Rejects with all that is wrong with their configuration,
 * and with programs that are not there. Their configuration is read once.
 */
export async function credentialProviders({ path, directory, clock, log }: CredentialProvidersDeps): Promise<ProvidedCredentials> {
  const wrong = (found: string): Error => new Error(`--image-credential-provider-config ${path}: ${found}`);
  const { providers, hash } = await readProviders(path).catch((error: unknown) => {
    throw wrong(errorText(error));
  });
  const faults = [
    ...providerFaults(providers).map(formatFieldError),
    ...providers
      .filter((each) => each.tokenAttributes)
      .map(({ name }) => `provider ${name} wants tokens of service accounts: no such provider is asked here`),
  ];
  if (faults.length > 0) throw wrong(faults.join('; '));
  for (const { name } of providers) {
    await access(join(directory, name), constants.X_OK).catch((cause: unknown) => {
      throw new Error(`--image-credential-provider-bin-dir ${directory}: the program of the provider ${name} cannot be run`, { cause });
    });
  }
  log.info('credential providers read', { path, hash, providers: providers.map(({ name }) => name) });
  const failing = new OngoingFaults<string>();
  const all = providers.map((spec) => ({
    name: spec.name,
    provider: new CredentialProvider(spec, { clock, ask: (image) => askProvider(spec, image, { directory, clock }) }),
  }));
  return (image) =>
    Promise.all(
      all.map(async ({ name, provider }) => {
        try {
          const entries = await provider.provide(image);
          if (failing.over(name)) log.info('credential provider answers again', { provider: name });
          return entries;
        } catch (error) {
          if (failing.fault(name, error)) log.warn('credential provider failed, pulling without it', { provider: name, image, error });
          return [];
        }
      }),
    );
}
