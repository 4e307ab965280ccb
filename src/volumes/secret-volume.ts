import type { V1SecretVolumeSource } from '@kubernetes/client-node';
import type { Wire } from '../model/wire.ts';
import type { ReferencedObject } from '../ports/object-store.ts';
import { filesOf, optionalObject, type PayloadOf } from './payload.ts';

/** A Secret's keys as files (pkg/volume/secret). */
export const secretPayload: PayloadOf<Wire<V1SecretVolumeSource>> = async (source, pod, facts, signal) => {
  const secret = await optionalObject('Secret', source.secretName, source.optional, pod, facts, signal);
  return filesOf(secretKeys(secret), { ...source, optional: source.optional || secret === undefined }, 'secret');
};

function secretKeys(secret: ReferencedObject | undefined): ReadonlyMap<string, Uint8Array> {
  return new Map(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}
