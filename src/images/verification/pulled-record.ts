import { isJsonObject } from '../../base/json-object.ts';
import { formatTime } from '../../model/time.ts';
import { merged, type PullCredentials, type SecretUse, type SourceReference } from './pull-credentials.ts';

/** What is known of an image that was pulled here (ImagePulledRecord of kubelet.config.k8s.io). */
export interface PulledRecord {
  /** The engine's id of the image. */
  readonly imageRef: string;
  /** By the name that it was pulled under, without tag and digest; the newest come last. None: it is verified at its next use. */
  readonly names: ReadonlyMap<string, PullCredentials>;
}

/** Of a record or an intent, in bytes: what is larger is none. */
export const LARGEST_RECORD = 1 << 20;
/** So many names an image: the oldest are forgotten, and their pods pull once more. */
const MOST_NAMES = 100;

const GROUP = 'kubelet.config.k8s.io';
/** As a kubelet writes it since 1.35. */
const VERSION = `${GROUP}/v1beta1`;
/** And as it wrote it before. */
const versions: readonly unknown[] = [VERSION, `${GROUP}/v1alpha1`];

/** The record with what has been proved now of a name; undefined: it says that already. Without a proof it says that the image was pulled. */
export function withProof(
  known: PulledRecord | undefined,
  imageRef: string,
  repository: string,
  proved: PullCredentials | undefined,
): PulledRecord | undefined {
  if (proved === undefined) return known === undefined ? { imageRef, names: new Map() } : undefined;
  const credentials = merged(known?.names.get(repository), proved);
  if (credentials === undefined) return undefined;
  const others = [...(known?.names ?? [])].filter(([name]) => name !== repository);
  return { imageRef, names: new Map([...others.slice(1 - MOST_NAMES), [repository, credentials]]) };
}

/** Never longer than LARGEST_RECORD: the oldest names give way. */
export function formatRecord({ imageRef, names }: PulledRecord, nowMs: number): string {
  const head = JSON.stringify({ kind: 'ImagePulledRecord', apiVersion: VERSION, lastUpdatedTime: formatTime(nowMs), imageRef }).slice(
    0,
    -1,
  );
  let room = LARGEST_RECORD - Buffer.byteLength(`${head},"credentialMapping":{}}`);
  const left: string[] = [];
  for (const [name, credentials] of [...names].toReversed()) {
    const member = `${JSON.stringify(name)}:${JSON.stringify(wireOf(credentials))}`;
    room -= Buffer.byteLength(member) + 1;
    if (room < 0) break;
    left.unshift(member);
  }
  return left.length === 0 ? `${head}}` : `${head},"credentialMapping":{${left.join(',')}}}`;
}

/** Throws with what is wrong with it. */
export function parseRecord(text: string): PulledRecord {
  const { imageRef, credentialMapping } = objectOf(text, 'ImagePulledRecord');
  if (typeof imageRef !== 'string') throw new Error('it has no imageRef');
  if (credentialMapping !== undefined && !isJsonObject(credentialMapping)) throw new Error('its credentialMapping is no object');
  return { imageRef, names: new Map(Object.entries(credentialMapping ?? {}).map(([name, value]) => [name, credentialsFrom(value)])) };
}

/** That an image is about to be pulled, under the name that the pod has for it (ImagePullIntent of kubelet.config.k8s.io). */
export const formatIntent = (image: string): string => JSON.stringify({ kind: 'ImagePullIntent', apiVersion: VERSION, image });

/** The image's name. Throws with what is wrong with it. */
export function parseIntent(text: string): string {
  const { image } = objectOf(text, 'ImagePullIntent');
  if (typeof image !== 'string') throw new Error('it names no image');
  return image;
}

function objectOf(text: string, wanted: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // JSON.parse would quote it.
    throw new Error('it is no JSON');
  }
  if (!isJsonObject(value) || value['kind'] !== wanted || !versions.includes(value['apiVersion']))
    throw new Error(`it is no ${wanted} of ${versions.join(' or ')}`);
  return value;
}

function wireOf({ secrets, serviceAccounts, nodePodsAccessible }: PullCredentials): unknown {
  return {
    ...(secrets.length > 0 && { kubernetesSecrets: secrets.map((one) => ({ ...reference(one), credentialHash: one.credentialHash })) }),
    ...(serviceAccounts.length > 0 && { kubernetesServiceAccounts: serviceAccounts.map(reference) }),
    ...(nodePodsAccessible && { nodePodsAccessible }),
  };
}

/** In a kubelet's order, and nothing else of what it comes from. */
const reference = ({ uid, namespace, name }: SourceReference): SourceReference => ({ uid, namespace, name });

function credentialsFrom(value: unknown): PullCredentials {
  if (!isJsonObject(value)) throw new Error('credentials in it are no object');
  const { kubernetesSecrets, kubernetesServiceAccounts, nodePodsAccessible = false } = value;
  if (typeof nodePodsAccessible !== 'boolean') throw new Error('a nodePodsAccessible in it is neither true nor false');
  return {
    secrets: listOf(kubernetesSecrets, 'kubernetesSecrets').map((one): SecretUse => {
      const { credentialHash } = one;
      if (typeof credentialHash !== 'string') throw new Error('a Secret in it has no credentialHash');
      return { ...referenceFrom(one), credentialHash };
    }),
    serviceAccounts: listOf(kubernetesServiceAccounts, 'kubernetesServiceAccounts').map(referenceFrom),
    nodePodsAccessible,
  };
}

function listOf(value: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list: unknown = value ?? [];
  if (!Array.isArray(list) || !list.every(isJsonObject)) throw new Error(`${name} in it is no list of objects`);
  return list;
}

function referenceFrom({ uid, namespace, name }: Readonly<Record<string, unknown>>): SourceReference {
  if (typeof uid !== 'string' || typeof namespace !== 'string' || typeof name !== 'string')
    throw new Error('a reference in it lacks uid, namespace or name');
  return { uid, namespace, name };
}
