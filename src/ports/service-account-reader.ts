import type { V1ServiceAccount } from '@kubernetes/client-node';
import type { Wire } from '../model/wire.ts';

export type ServiceAccount = Wire<V1ServiceAccount>;

/** The service accounts of this node's pods. Each call asks afresh; rejects with ApiError 404 where there is none. */
export type ServiceAccountReader = (namespace: string, name: string, signal: AbortSignal) => Promise<ServiceAccount>;
