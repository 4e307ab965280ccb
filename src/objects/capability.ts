import { drainInto } from '../base/drain-into.ts';
import type { PodUid } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';

/** What each pod refers to is followed while it runs, and a change wakes it. */
export function capability({ objects, wake }: Pick<NodeParts, 'objects' | 'wake'>): Contribution {
  const forget = async (uid: PodUid): Promise<void> => {
    objects.unregister(uid);
    objects.tokens.forget(uid);
  };
  return {
    pod: {
      prepare: async (pod) => {
        objects.register(pod);
        return undefined;
      },
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
