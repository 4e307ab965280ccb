import { readYamlDocument } from '../../base/yaml-document.ts';
import { parseGoDuration } from '../../model/go-duration.ts';
import { record, string, strictObject } from '../../options/zod-parts.ts';
import type { DockerConfigEntry } from '../docker-config.ts';

/** What a provider says of an image. */
export interface ProviderAnswer {
  readonly entries: readonly DockerConfigEntry[];
  /** For which images it counts: "Image", "Registry" or "Global"; others are refused by who asked. */
  readonly cacheKeyType: string;
  /** How long it counts. Undefined: as the configuration has it. */
  readonly cacheMs: number | undefined;
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `credentialprovider.kubelet.k8s.io/${version}`);
const answer = strictObject({
  kind: string(),
  apiVersion: string(),
  cacheKeyType: string().nullish(),
  cacheDuration: string().nullish(),
  auth: record(string(), strictObject({ username: string().nullish(), password: string().nullish() })).nullish(),
});

/** A provider's output (decodeResponse in pkg/credentialprovider/plugin). Throws with words that hold nothing of it: it has passwords. */
export function providerAnswer(text: string): ProviderAnswer {
  const { content, faults } = readYamlDocument(text);
  if (faults.length > 0) throw new Error('its answer is neither JSON nor YAML');
  const { success, data, error } = answer.safeParse(content);
  if (!success) {
    const where = error.issues.map(({ path }) => path.slice(0, 1).join('.') || 'the whole').slice(0, 3);
    throw new Error(`its answer is no CredentialProviderResponse: see ${where.join(', ')}`);
  }
  const { kind, apiVersion, cacheKeyType, cacheDuration, auth } = data;
  if (kind !== 'CredentialProviderResponse' || !versions.includes(apiVersion))
    throw new Error(`its answer is not a CredentialProviderResponse of ${versions.join(', ')}`);
  return {
    entries: Object.entries(auth ?? {}).map(([location, { username, password }]) => ({
      location,
      username: username ?? '',
      password: password ?? '',
    })),
    cacheKeyType: cacheKeyType ?? '',
    cacheMs: typeof cacheDuration === 'string' ? Number(parseGoDuration(cacheDuration)) / 1e6 : undefined,
  };
}
