import { hash } from 'node:crypto';
import { type Fields, struct, text } from '../../model/go-json.ts';

/** A Secret or a service account of the cluster. */
export interface SourceReference {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Whose credentials they are; those of the node, which every pod may use, have no source. */
export type CredentialSource = { readonly secret: SourceReference } | { readonly serviceAccount: SourceReference };

/** Credentials of a registry, and where they are from. Never logged. */
export interface TrackedCredentials {
  readonly username: string;
  readonly password: string;
  /** As the docker config has it: it counts for the hash alone. */
  readonly email?: string;
  readonly source?: CredentialSource;
}

/** A Secret by whose credentials an image was pulled. */
export interface SecretUse extends SourceReference {
  /** SHA-256 of the credentials, in hex; empty: it matches none. */
  readonly credentialHash: string;
}

/** By what an image was pulled under one name: any of these may use it (ImagePullCredentials of kubelet.config.k8s.io). The newest come last. */
export interface PullCredentials {
  readonly secrets: readonly SecretUse[];
  readonly serviceAccounts: readonly SourceReference[];
  /** Every pod of the node may use it: it was pulled without credentials, or by the node's own. The lists are empty then. */
  readonly nodePodsAccessible: boolean;
}

/** So many Secrets, and so many service accounts, a name: the oldest are forgotten, and their pods pull once more. */
const MOST_SOURCES = 100;

const authConfig: Fields = { username: text, password: text, email: text };
const encodeAuthConfig = struct(authConfig);

/** As a kubelet hashes them (hashAuthConfig in pkg/credentialprovider). */
export function credentialHash({ username, password, email = '' }: TrackedCredentials): string {
  return hash('sha256', encodeAuthConfig({ username, password, email }) ?? '{}');
}

/** What a pull proves that worked with these; undefined: without any. */
export function credentialsOf(used: TrackedCredentials | undefined): PullCredentials {
  const source = used?.source;
  const none = { secrets: [], serviceAccounts: [], nodePodsAccessible: false };
  if (used === undefined || source === undefined) return { ...none, nodePodsAccessible: true };
  if ('secret' in source) return { ...none, secrets: [{ ...source.secret, credentialHash: credentialHash(used) }] };
  return { ...none, serviceAccounts: [source.serviceAccount] };
}

/**
 * What is known of an image under one name with what has been proved now (pulledRecordMergeNewCreds in pkg/kubelet/images/pullmanager);
 * undefined: nothing new. A Secret's hash is the one that was proved last.
 */
export function merged(known: PullCredentials | undefined, proved: PullCredentials): PullCredentials | undefined {
  if (known?.nodePodsAccessible) return undefined;
  if (proved.nodePodsAccessible) return { secrets: [], serviceAccounts: [], nodePodsAccessible: true };
  const { secrets = [], serviceAccounts = [] } = known ?? {};
  const isNew =
    proved.secrets.some((one) => !secrets.some((other) => isSame(one, other) && one.credentialHash === other.credentialHash)) ||
    proved.serviceAccounts.some((one) => !serviceAccounts.some((other) => isSame(one, other)));
  if (!isNew) return undefined;
  return {
    secrets: latest(secrets, proved.secrets),
    serviceAccounts: latest(serviceAccounts, proved.serviceAccounts),
    nodePodsAccessible: false,
  };
}

/** Whether a pod that has `credentials` may use the image, and what of it was not known yet. */
export interface Match {
  readonly mayUse: boolean;
  readonly learnt?: SecretUse;
}

/**
 * A pod may use an image that was pulled by the same credentials, by the same Secret, whatever that holds by now, or for the same service account
 * (MustAttemptImagePull in pkg/kubelet/images/pullmanager).
 */
export function matchOf(known: PullCredentials, credentials: readonly TrackedCredentials[]): Match {
  if (known.nodePodsAccessible) return { mayUse: true };
  const isRoom = known.secrets.length < MOST_SOURCES;
  for (const one of credentials) {
    if (one.source === undefined || !('secret' in one.source)) continue;
    const own: SecretUse = { ...one.source.secret, credentialHash: credentialHash(one) };
    const same = known.secrets.find((secret) => isSame(secret, own));
    const isNews = isRoom && same?.credentialHash !== own.credentialHash;
    if (known.secrets.some((secret) => secret.credentialHash === own.credentialHash))
      return { mayUse: true, ...(isNews && { learnt: own }) };
    if (isRoom && same) return { mayUse: true, learnt: own };
  }
  const account = credentials.flatMap(({ source }) => (source && 'serviceAccount' in source ? [source.serviceAccount] : []))[0];
  return { mayUse: account !== undefined && known.serviceAccounts.some((one) => isSame(one, account)) };
}

/** What has no name is nobody's. */
const isSame = (a: SourceReference, b: SourceReference): boolean =>
  a.name !== '' && a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;

function latest<T extends SourceReference>(known: readonly T[], now: readonly T[]): readonly T[] {
  return [...known.filter((one) => !now.some((other) => isSame(one, other))), ...now].slice(-MOST_SOURCES);
}
