import type { V1ConfigMapVolumeSource } from '@kubernetes/client-node';
import type { Wire } from '../model/wire.ts';
import type { ReferencedObject } from '../ports/object-store.ts';
import { filesOf, optionalObject, type PayloadOf } from './payload.ts';

/** A ConfigMap's keys as files, text and binary (pkg/volume/configmap). */
export const configMapPayload: PayloadOf<Wire<V1ConfigMapVolumeSource>> = async (source, pod, facts, signal) => {
  const configMap = await optionalObject('ConfigMap', source.name, source.optional, pod, facts, signal);
  return filesOf(configMapKeys(configMap), { ...source, optional: source.optional || configMap === undefined }, 'config');
};

function configMapKeys(configMap: ReferencedObject | undefined): ReadonlyMap<string, Uint8Array> {
  const binary = Object.entries(configMap?.binaryData ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  const text = Object.entries(configMap?.data ?? {}).map(([key, value]) => [key, Buffer.from(value)] as const);
  return new Map([...binary, ...text]);
}
