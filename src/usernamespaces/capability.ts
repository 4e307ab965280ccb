import { join } from 'node:path';
import { aborted } from '../base/aborted.ts';
import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import { namesIn } from '../base/names-in.ts';
import { namesPodDirectory } from '../model/pod-directory.ts';
import type { PodUid } from '../model/pod.ts';
import { type IdRange, idSlots, savedIds, savedIdsIn } from '../model/user-namespace.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { StateFile } from '../ports/state-files.ts';
import { IdRanges } from './id-ranges.ts';

/** In the pod's directory, where a kubelet has it as well: either goes on with what the other gave. */
const FILE = 'userns';

/**
 * A pod with `hostUsers: false` has ids of its own: root in it is nobody on the node (pkg/kubelet/userns). What they are is kept with the pod, so
 * that they stay its own over a restart of the agent.
 */
export function capability({ options, podFiles, log }: Pick<NodeParts, 'options' | 'podFiles' | 'log'>): Contribution {
  const { userNamespaceIdsPerPod: idsPerPod, rootDir } = options;
  // From the first that are not the node's own, for as many pods as there are ids: maxPods may change while the agent runs.
  const pods = Math.floor(2 ** 32 / idsPerPod) - 1;
  const ranges = new IdRanges(idSlots({ first: idsPerPod, length: idsPerPod * pods }, idsPerPod, pods), idsPerPod);
  const kept = Promise.withResolvers<void>();
  const fileOf = (uid: PodUid): StateFile<JsonObject> => podFiles(uid).open(FILE, (json) => (isJsonObject(json) ? json : undefined));

  /** Before any pod is given ids: what those of before have is not free. */
  const recordKept = async (): Promise<void> => {
    for (const uid of (await namesIn(join(rootDir, 'pods'))).filter(namesPodDirectory) as PodUid[]) {
      try {
        const saved = fileOf(uid).load();
        if (saved !== undefined) ranges.record(uid, savedIdsIn(saved));
      } catch (error) {
        log.warn('the ids of a pod cannot be read back; its next sandbox has others', { uid, error });
      }
    }
  };

  const give = async (uid: PodUid): Promise<IdRange> => {
    await kept.promise;
    const range = ranges.of(uid);
    await fileOf(uid).save(savedIds(range));
    return range;
  };

  return {
    pod: {
      sandbox: async ({ metadata: { uid }, spec: { hostUsers } }) => (hostUsers === false ? { userNamespace: await give(uid) } : {}),
      release: async (uid) => ranges.release(uid),
    },
    services: [
      {
        name: 'ids of pods',
        stage: 'before pods',
        run: async (signal) => {
          await recordKept();
          kept.resolve();
          await aborted(signal);
        },
        ready: (signal) => Promise.race([kept.promise, aborted(signal)]),
      },
    ],
  };
}
