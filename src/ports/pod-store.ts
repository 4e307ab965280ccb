import type { Pod, PodUid, SourceName } from '../model/pod.ts';

export interface DesiredPod {
  readonly pod: Pod;
  readonly source: SourceName;
}

/** What should run here. Written only from the mux's updates; everyone else holds this read side. */
export interface PodStore {
  get(uid: PodUid): DesiredPod | undefined;
  list(): readonly DesiredPod[];
  /** False until every source has spoken once: until then nothing may be cleaned up. */
  readonly synced: boolean;
}
