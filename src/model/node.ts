import type { V1Node, V1NodeAddress, V1NodeCondition, V1NodeStatus, V1NodeSystemInfo, V1Taint } from '@kubernetes/client-node';
import type { Wire } from './wire.ts';

/** A Node as the API server gives it: anything may be missing. */
export type Node = Wire<V1Node>;
export type NodeStatus = Wire<V1NodeStatus>;
export type NodeCondition = Wire<V1NodeCondition>;
export type NodeAddress = Wire<V1NodeAddress>;
export type NodeSystemInfo = Wire<V1NodeSystemInfo>;
export type Taint = Wire<V1Taint>;
/** Resource name to quantity, as printed. */
export type ResourceList = Readonly<Record<string, string>>;
