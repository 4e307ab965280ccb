import type { Pod, SourceName } from './pod.ts';

/** The source of an update that speaks for all of them (pkg/kubelet/types AllSource). */
export const ALL_SOURCES = '*';

/**
 * What a source did, in the kubelet's words (pkg/kubelet/types/pod_update.go). DELETE: the pod got a deletionTimestamp; REMOVE: it is gone;
 * RECONCILE: only its status differs.
 */
export type PodOperation = 'SET' | 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: SourceName | typeof ALL_SOURCES;
  readonly pods: readonly Pod[];
}
