import { merge } from 'rxjs';
import { ApiError } from '../model/api-error.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import type { Pod } from '../model/pod.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { PodObjects } from '../ports/pod-objects.ts';

/**
 * One store for all pods: those of the API server read its objects, static pods those of the manifest directory. With `shared`, without the gate
 * PreventStaticPodAPIReferences, static pods may have what the API server lets this node read, where the directory has no such object.
 */
export function objectsByOrigin(
  ofApi: ObjectStore,
  ofManifests: ObjectStore,
  shared: boolean,
): Pick<PodObjects, 'for' | 'register' | 'unregister' | 'changes'> {
  const ofStatic = shared ? inManifestsElseApi(ofApi, ofManifests) : ofManifests;
  const storeOf = (pod: Pod): Pick<ObjectStore, 'get' | 'register'> => (isStaticPod(pod) ? ofStatic : ofApi);
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

const inManifestsElseApi = (ofApi: ObjectStore, ofManifests: ObjectStore): Pick<ObjectStore, 'get' | 'register'> => ({
  get: async (reference, signal) => {
    try {
      return await ofManifests.get(reference, signal);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return ofApi.get(reference, signal);
      throw error;
    }
  },
  register: (pod) => {
    ofManifests.register(pod);
    ofApi.register(pod);
  },
});
