import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { Wire } from '../model/wire.ts';

export type PersistentVolumeClaim = Wire<V1PersistentVolumeClaim>;
export type PersistentVolume = Wire<V1PersistentVolume>;

/** The claims that pods of this node refer to, and what they are bound to. Each call asks afresh; rejects with ApiError 404 where there is none. */
export interface ClaimReader {
  claim(namespace: string, name: string, signal: AbortSignal): Promise<PersistentVolumeClaim>;
  volume(name: string, signal: AbortSignal): Promise<PersistentVolume>;
}
