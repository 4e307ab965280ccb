import { containerGarbage, type DeadContainer, isLogGarbage } from '../../../src/model/container-gc.ts';

interface In {
  readonly policy: { readonly minAgeSec: number; readonly maxPerPodContainer: number; readonly maxContainers: number };
  readonly pods?: readonly { readonly uid: string; readonly deleted: boolean; readonly terminated: boolean }[];
  readonly containers: readonly {
    readonly id: string;
    readonly podUID: string;
    readonly name: string;
    readonly sandbox: string;
    readonly state: DeadContainer['phase'];
    readonly ageSec: number;
  }[];
  readonly sandboxes: readonly { readonly id: string; readonly podUID: string; readonly state: string; readonly ageSec: number }[];
  readonly allSourcesReady: boolean;
  readonly evictTerminatedPods: boolean;
  readonly logDirs: readonly string[];
}

const sortedIds = (parts: readonly { readonly id: string }[]): readonly string[] => parts.map(({ id }) => id).toSorted();

export function run({ policy, pods = [], containers, sandboxes, allSourcesReady, evictTerminatedPods, logDirs }: In): unknown {
  const world = {
    containers: containers.map(({ podUID, state, ageSec, ...rest }) => ({ ...rest, uid: podUID, phase: state, ageMs: ageSec * 1000 })),
    sandboxes: sandboxes.map(({ id, podUID, state, ageSec }) => ({ id, uid: podUID, ready: state === 'READY', ageMs: ageSec * 1000 })),
    podOf: (uid: string) => pods.find((pod) => pod.uid === uid) ?? { deleted: true, terminated: true },
    allSourcesReady,
    evictTerminatedPods,
  };
  const garbage = containerGarbage(world, {
    minAgeMs: policy.minAgeSec * 1000,
    maxPerPodContainer: policy.maxPerPodContainer,
    maxContainers: policy.maxContainers,
  });
  return {
    removedContainers: sortedIds(garbage.containers),
    removedSandboxes: sortedIds(garbage.sandboxes),
    stoppedContainers: sortedIds(garbage.containers.filter(({ phase }) => phase === 'unknown')),
    removedLogDirs: logDirs.filter((directory) => isLogGarbage(directory, world)),
  };
}
