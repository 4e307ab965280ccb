import { errorText } from '../../base/error-text.ts';
import { isNotFound } from '../../model/api-error.ts';
import { containerResourceByName } from '../../model/container-resource.ts';
import { EnvFile } from '../../model/env-file.ts';
import { expand, lookupIn, MAX_EXPANDED } from '../../model/expansion.ts';
import { fromUtf8, quote } from '../../model/go-text.ts';
import type { ReferencedKind } from '../../model/pod-references.ts';
import type { Container, Pod } from '../../model/pod.ts';
import { isEnvVarName } from '../../model/validation/formats.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { VolumeFile } from '../../ports/volume-files.ts';
import { type PodFieldFacts, podFieldValue } from './pod-field-value.ts';
import { serviceEnv, type ServiceObject } from './service-env.ts';

type ValueFrom = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>;

export interface ContainerEnvFacts extends PodFieldFacts {
  readonly objects: Pick<ObjectStore, 'get'>;
  /** A file of one of the pod's volumes; undefined where the pod has no such volume. */
  readonly volumeFile: (volume: string, path: string) => Promise<VolumeFile | undefined>;
  /** Every service that there is; undefined while that is not known. */
  readonly services: readonly ServiceObject[] | undefined;
  /** Where the API server's own service is. */
  readonly masterServiceNamespace: string;
  /** What the node has for pods: stands in for limits that a container does not set. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Hears in words which keys of an object cannot be variables. */
  readonly onInvalidNames: (message: string) => void;
}

type ReadKeys = (kind: ReferencedKind, name: string, optional: boolean | undefined) => Promise<ReadonlyMap<string, string> | undefined>;
type ReadEnvFile = (volume: string, path: string) => Promise<{ readonly path: string; readonly variables: EnvFile }>;

/** A container's environment. Rejects in the kubelet's words where a reference leads nowhere (pkg/kubelet makeEnvironmentVariables). */
export async function containerEnv(
  pod: Pod,
  container: Container,
  facts: ContainerEnvFacts,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { namespace } = pod.metadata;
  const { enableServiceLinks } = pod.spec;
  if (enableServiceLinks === undefined) throw new Error('nil pod.spec.enableServiceLinks encountered, cannot construct envvars');
  if (facts.services === undefined) throw new Error('services have not yet been read at least once, cannot construct envvars');
  const ofServices = new Map(serviceEnv(facts.services, namespace, enableServiceLinks, facts.masterServiceNamespace));
  const readEnvFile = envFileReader(facts);
  const readKeys = keyReader(namespace, facts.objects, signal);
  const values = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const ref = configMapRef ?? secretRef;
    if (ref === undefined) continue;
    const { name: object = '', optional } = ref;
    const kind = configMapRef ? 'ConfigMap' : 'Secret';
    const keys = await readKeys(kind, object, optional);
    const all = [...(keys ?? [])].map(([key, value]) => [prefix + key, value] as const);
    const isInvalid = (name: string): boolean => isEnvVarName(name).length > 0;
    for (const [name, value] of all) if (!isInvalid(name)) values.set(name, value);
    const invalid = all.map(([name]) => name).filter(isInvalid);
    if (invalid.length > 0) facts.onInvalidNames(skipped(invalid, kind, `${namespace}/${object}`));
  }
  const lookup = lookupIn(values, ofServices);
  let room = MAX_EXPANDED;
  for (const { name, value, valueFrom } of container.env ?? []) {
    const resolved =
      value || !valueFrom ? expand(value ?? '', lookup, room) : await referred(pod, container, valueFrom, facts, readKeys, readEnvFile);
    if (resolved === undefined) continue;
    room -= resolved.length;
    ofServices.delete(name);
    values.set(name, resolved);
  }
  return new Map([...values, ...[...ofServices].filter(([name]) => !values.has(name))]);
}

/** Undefined where a reference leads nowhere and may. */
async function referred(
  pod: Pod,
  container: Container,
  { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef }: ValueFrom,
  facts: ContainerEnvFacts,
  readKeys: ReadKeys,
  readEnvFile: ReadEnvFile,
): Promise<string | undefined> {
  if (fieldRef) return podFieldValue(pod, fieldRef, facts);
  if (resourceFieldRef) {
    return containerResourceByName(resourceFieldRef, pod, resourceFieldRef.containerName || container.name, facts.allocatable);
  }
  if (fileKeyRef) return valueInFile(fileKeyRef, readEnvFile);
  const ref = configMapKeyRef ?? secretKeyRef;
  if (ref === undefined) return '';
  const { name = '', key, optional } = ref;
  const kind = configMapKeyRef ? 'ConfigMap' : 'Secret';
  const keys = await readKeys(kind, name, optional);
  const value = keys?.get(key);
  if (value === undefined && !optional) throw new Error(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace}/${name}`);
  return value;
}

/** Each file is read once, so that all variables are of one state. */
function envFileReader({ volumeFile }: Pick<ContainerEnvFacts, 'volumeFile'>): ReadEnvFile {
  const known = new Map<string, { readonly path: string; readonly variables: EnvFile }>();
  return async (volume, path) => {
    const key = `${volume} ${path}`;
    let file = known.get(key);
    if (file === undefined) {
      const found = await volumeFile(volume, path).catch((error: unknown) => {
        throw badEnvFile(error);
      });
      if (found === undefined) throw new Error(`cannot find the volume ${quote(volume)} referenced by FileKeyRef`);
      file = { path: found.path, variables: new EnvFile(found.text, found.path) };
      known.set(key, file);
    }
    return file;
  };
}

const badEnvFile = (why: unknown): Error => new Error(`couldn't parse env file: ${errorText(why)}`, { cause: why });

/** Undefined where the file has no such variable, or an empty one, and may; a file that is not there is a fault all the same. */
async function valueInFile(
  { volumeName, path, key, optional }: NonNullable<ValueFrom['fileKeyRef']>,
  readEnvFile: ReadEnvFile,
): Promise<string | undefined> {
  const file = await readEnvFile(volumeName, path);
  let value: string;
  try {
    value = file.variables.valueOf(key);
  } catch (error) {
    throw badEnvFile(error);
  }
  if (value !== '') return value;
  if (optional) return undefined;
  throw new Error(`environment variable key ${quote(key)} not found in file ${quote(file.path)}`);
}

/** Each object is read once, so that all variables are of one state. */
function keyReader(namespace: string, objects: Pick<ObjectStore, 'get'>, signal: AbortSignal): ReadKeys {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return async (kind, name, optional) => {
    const key = `${kind} ${name}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    try {
      const { data } = await objects.get({ kind, namespace, name }, signal);
      const text = (value: string): string => (kind === 'Secret' ? fromUtf8(Buffer.from(value, 'base64')) : value);
      const keys = new Map(Object.entries(data ?? {}).map(([each, value]) => [each, text(value)]));
      known.set(key, keys);
      return keys;
    } catch (error) {
      if (optional && isNotFound(error)) return undefined;
      throw error;
    }
  };
}

function skipped(names: readonly string[], kind: ReferencedKind, object: string): string {
  const noun = kind === 'ConfigMap' ? 'configMap' : 'secret';
  const list = [...names].sort().join(', ');
  return `Keys [${list}] from the EnvFrom ${noun} ${object} were skipped since they are considered invalid environment variable names.`;
}
