import type { V1Service } from '@kubernetes/client-node';
import type { Wire } from '../model/wire.ts';
import type { WatchedObject } from './kube-api.ts';

export type ServiceObject = Wire<V1Service> & WatchedObject;
