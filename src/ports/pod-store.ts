import type { Pod, PodFullName, PodUid, SourceName } from '../model/pod.ts';

export interface DesiredPod {
  readonly pod: Pod;
  readonly source: SourceName;
}

/** What should run here. Written only from the mux's updates; everyone else holds this read side. */
export interface PodStore {
  get(uid: PodUid): DesiredPod | undefined;
  list(): readonly DesiredPod[];
  /** All of this name, the pod of the source that spoke first before the others. */
  named(name: PodFullName): readonly Pod[];
  /** The static pod that bears the name of this pod of the API, and comes before it; undefined for a static pod. */
  staticNamesakeOf(pod: Pod): Pod | undefined;
  /** False until every source has spoken once: until then nothing may be cleaned up. */
  readonly synced: boolean;
  /** Resolves when that becomes true. */
  readonly syncedOnce: Promise<void>;
}
