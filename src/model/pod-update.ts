import type { Pod, SourceName } from './pod.ts';

/** What a source did, in the kubelet's words (pkg/kubelet/types/pod_update.go). DELETE: the pod got a deletionTimestamp; REMOVE: it is gone; RECONCILE: only its status differs. */
export type PodOperation = 'SET' | 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: SourceName;
  readonly pods: readonly Pod[];
}
