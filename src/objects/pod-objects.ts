import { merge, type Observable } from 'rxjs';
import { isStaticPod } from '../model/mirror-pod.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { ObjectStore } from '../ports/object-store.ts';

/** The objects that pods may refer to: those of the API server for its own pods, for static pods those of the manifest directory and nothing else. */
export interface PodObjects {
  for(pod: Pod): Pick<ObjectStore, 'get'>;
  /** See ObjectStore. */
  register(pod: Pod): void;
  unregister(uid: PodUid): void;
  readonly changes: Observable<PodUid>;
}

export function podObjects(ofApi: ObjectStore, ofManifests: ObjectStore): PodObjects {
  const storeOf = (pod: Pod): ObjectStore => (isStaticPod(pod) ? ofManifests : ofApi);
  return {
    for: storeOf,
    register: (pod) => storeOf(pod).register(pod),
    unregister: (uid) => {
      ofApi.unregister(uid);
      ofManifests.unregister(uid);
    },
    changes: merge(ofApi.changes, ofManifests.changes),
  };
}
