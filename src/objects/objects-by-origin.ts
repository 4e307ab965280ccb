import { merge } from 'rxjs';
import { isStaticPod } from '../model/mirror-pod.ts';
import type { Pod } from '../model/pod.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { PodObjects } from '../ports/pod-objects.ts';

/** One store for all pods: those of the API server read its objects, static pods those of the manifest directory and nothing else. */
export function objectsByOrigin(
  ofApi: ObjectStore,
  ofManifests: ObjectStore,
): Pick<PodObjects, 'for' | 'register' | 'unregister' | 'changes'> {
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
