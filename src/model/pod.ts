import type {
  V1Container,
  V1ContainerState,
  V1ContainerStatus,
  V1ObjectMeta,
  V1Pod,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
} from '@kubernetes/client-node';
import type { Wire } from './wire.ts';

export type PodUid = string & { readonly __brand: 'PodUid' };
export type SourceName = 'api' | 'file' | 'http';

export type ObjectMeta = Wire<V1ObjectMeta>;
export type Container = Wire<V1Container>;
export type PodSpec = Wire<V1PodSpec>;
export type PodStatus = Wire<V1PodStatus>;
export type PodCondition = Wire<V1PodCondition>;
export type ContainerStatus = Wire<V1ContainerStatus>;
export type ContainerStateStatus = Wire<V1ContainerState>;
/** A pod as a manifest or the API server gives it: anything may be missing. */
export type RawPod = Wire<V1Pod>;

/** A pod that passed the door: identity and spec are always present, defaults are filled in, and it is never mutated. Plain JSON. */
export interface Pod extends RawPod {
  readonly metadata: ObjectMeta & { readonly uid: PodUid; readonly name: string; readonly namespace: string };
  readonly spec: PodSpec;
}

/** "name_namespace", unique among the pods that may run at one time (pkg/kubelet/container GetPodFullName). */
export type PodFullName = string & { readonly __brand: 'PodFullName' };

export function podFullName({ metadata }: { readonly metadata: { readonly name: string; readonly namespace: string } }): PodFullName {
  return `${metadata.name}_${metadata.namespace}` as PodFullName;
}

/** "name_namespace(uid)", the way the kubelet's own messages name a pod (pkg/kubelet/util/format). */
export function formatPod({ metadata }: Pick<Pod, 'metadata'>): string {
  return `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
}

/** As logs name a pod, and people do. */
export function showPod({ metadata }: Pick<Pod, 'metadata'>): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** The fields of each log line about a pod: its story is what has its uid. */
export const aboutPod = (pod: Pick<Pod, 'metadata'>): { readonly pod: string; readonly uid: PodUid } => ({
  pod: showPod(pod),
  uid: pod.metadata.uid,
});
