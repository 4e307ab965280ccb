import type { V1Secret } from '@kubernetes/client-node';
import { parseImageName } from '../model/image-name.ts';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import { type DockerConfigEntry, parseDockercfg, parseDockerConfigJson } from './docker-config.ts';
import type { ProvidedCredentials } from './providers/credential-providers.ts';
import { locationCovers, parseRegistryLocation } from './registry-location.ts';
import type { CredentialSource, TrackedCredentials } from './verification/pull-credentials.ts';

/** What of a Secret matters here; `data` is base64, as the API gives it. */
export type PullSecret = Pick<Wire<V1Secret>, 'type' | 'data' | 'metadata'>;

/** Who may pull what: the pod's pull secrets first, then the node's own docker configuration, then what credential providers know. */
export interface Keyring {
  /** In the order to try; none means anonymous. Rejects when `image` or a secret does not parse, with words that hold no credentials. */
  lookup(image: string, secrets: readonly PullSecret[], pod: Pod, signal: AbortSignal): Promise<readonly TrackedCredentials[]>;
}

export function keyring(node: { entries(): Promise<readonly DockerConfigEntry[]> }, provided?: ProvidedCredentials): Keyring {
  return {
    async lookup(image, secrets, pod, signal) {
      const { repo: repository } = parseImageName(image);
      const fromSecrets = entriesOfSecrets(secrets);
      return credentialsFor(repository, fromSecrets, await node.entries(), ...((await provided?.(repository, pod, signal)) ?? []));
    },
  };
}

/** What every dockerconfigjson and dockercfg secret holds; secrets of other types and empty ones count for nothing (MakeDockerKeyring). */
export function entriesOfSecrets(secrets: readonly PullSecret[]): readonly DockerConfigEntry[] {
  return secrets.flatMap((secret) => {
    const { type, data } = secret;
    const source = sourceOf(secret);
    const text = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString();
    const json = type === 'kubernetes.io/dockerconfigjson' ? text('.dockerconfigjson') : '';
    if (json !== '') return parseDockerConfigJson(json).map((entry) => ({ ...entry, source }));
    const legacy = type === 'kubernetes.io/dockercfg' ? text('.dockercfg') : '';
    return legacy === '' ? [] : parseDockercfg(legacy).map((entry) => ({ ...entry, source }));
  });
}

function sourceOf({ metadata }: PullSecret): CredentialSource {
  const { uid = '', namespace = '', name = '' } = metadata ?? {};
  return { secret: { uid, namespace, name } };
}

/** `repository` without tag and digest, with its registry: docker.io/library/nginx. Each ring's most specific location comes first. */
export function credentialsFor(repository: string, ...rings: readonly (readonly DockerConfigEntry[])[]): readonly TrackedCredentials[] {
  return rings.flatMap((entries) => credentialsIn(entries, repository));
}

/** Where config files keep Docker Hub's credentials, whatever the image's name says. */
const DEFAULT_REGISTRY = 'index.docker.io';

function credentialsIn(entries: readonly DockerConfigEntry[], repository: string): readonly TrackedCredentials[] {
  const byKey = new Map<string, TrackedCredentials[]>();
  for (const { location, ...credentials } of entries) {
    const key = keyOf(location);
    if (key === undefined) continue;
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [credentials]);
    else known.push(credentials);
  }
  const target = parseRegistryLocation(`https://${repository}`);
  const covers = (key: string): boolean => {
    const glob = parseRegistryLocation(`https://${key}`);
    return glob !== undefined && target !== undefined && locationCovers(glob, target);
  };
  const keys = [...byKey.keys()].filter(covers).sort((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
  if (keys.length > 0) return keys.flatMap((key) => byKey.get(key) ?? []);
  return isOnDefaultRegistry(repository) ? (byKey.get(DEFAULT_REGISTRY) ?? []) : [];
}

/** Host and path; the API version that old files carry (https://index.docker.io/v1/) means the host itself. */
function keyOf(location: string): string | undefined {
  const parsed = parseRegistryLocation(location);
  if (parsed === undefined) return undefined;
  const path = parsed.path.replace(/^\/v[12](?=\/)/, '');
  return path === '/' ? parsed.host : parsed.host + path;
}

function isOnDefaultRegistry(repository: string): boolean {
  const [first = '', ...rest] = repository.split('/');
  if (first === '') return false;
  return rest.length === 0 || first === 'docker.io' || first === DEFAULT_REGISTRY || !/[.:]/.test(first);
}
