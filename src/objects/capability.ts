import { drainInto } from '../base/drain-into.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';

/** What each pod refers to is followed while it runs, and a change wakes it. */
export function capability({ objects, wake }: Pick<NodeParts, 'objects' | 'wake'>): Contribution {
  const registered = new Map<PodUid, Pod>();
  const forget = async (uid: PodUid): Promise<void> => {
    registered.delete(uid);
    objects.unregister(uid);
    objects.tokens.forget(uid);
  };
  return {
    pod: {
      prepare: async (pod) => {
        objects.register(pod);
        registered.set(pod.metadata.uid, pod);
        return undefined;
      },
      isPrepared: (pod) => registered.get(pod.metadata.uid) === pod,
      tearDown: forget,
      release: forget,
    },
    services: [
      ...objects.services,
      {
        name: 'object changes',
        stage: 'before pods',
        run: (signal) => drainInto(objects.changes, (uid) => wake(uid, 'object changed'), signal),
      },
    ],
  };
}
