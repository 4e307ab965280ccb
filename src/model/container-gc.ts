/** How many dead containers stay (--minimum-container-ttl-duration, --maximum-dead-containers-per-container, --maximum-dead-containers). */
export interface ContainerGcPolicy {
  /** What was created later stays. Milliseconds. */
  readonly minAgeMs: number;
  /** Of one container of one pod; negative: any number. */
  readonly maxPerPodContainer: number;
  /** Of all; negative: any number. */
  readonly maxContainers: number;
}

export interface DeadContainer {
  readonly id: string;
  readonly uid: string;
  readonly name: string;
  /** Where the engine knows. */
  readonly sandbox: string | undefined;
  readonly phase: 'created' | 'running' | 'exited' | 'unknown';
  readonly ageMs: number;
}

export interface SandboxOfPod {
  readonly id: string;
  readonly uid: string;
  readonly ready: boolean;
  readonly ageMs: number;
}

/** What is still wanted of a pod. `deleted`: nothing; `terminated`: none of its containers will run again. */
export interface PodRemains {
  readonly deleted: boolean;
  readonly terminated: boolean;
}

export interface ContainerGcWorld {
  readonly containers: readonly DeadContainer[];
  readonly sandboxes: readonly SandboxOfPod[];
  readonly podOf: (uid: string) => PodRemains;
  /** Every source has spoken: what none declares is deleted. */
  readonly allSourcesReady: boolean;
  /** The node needs room: terminated pods keep nothing, either. */
  readonly evictTerminatedPods: boolean;
}

export interface ContainerGarbage {
  readonly containers: readonly DeadContainer[];
  readonly sandboxes: readonly SandboxOfPod[];
}

/**
 * Which containers that do not run, and which sandboxes, are removed: all of deleted pods, and the oldest where there are too many. Those in an
 * unknown state may run, and are to be stopped first (pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers and evictSandboxes).
 */
export function containerGarbage(world: ContainerGcWorld, policy: ContainerGcPolicy): ContainerGarbage {
  const containers = deadContainers(world, policy);
  const left = new Set(world.containers.filter((container) => !containers.has(container)).map(({ sandbox }) => sandbox));
  return { containers: [...containers], sandboxes: oldSandboxes(world, left) };
}

/** Ages are by the date. What seems to be of the future was created before the date was set back: nothing says that it is young. */
export const isOldEnough = (ageMs: number, minAgeMs: number): boolean => ageMs < 0 || ageMs >= minAgeMs;

/** Whether the directory of a pod's logs is of no use any more: its name ends with the uid (evictPodLogsDirectories). */
export function isLogGarbage(directory: string, { podOf, allSourcesReady }: Pick<ContainerGcWorld, 'podOf' | 'allSourcesReady'>): boolean {
  return allSourcesReady && podOf(directory.slice(directory.lastIndexOf('_') + 1)).deleted;
}

function deadContainers(world: ContainerGcWorld, { minAgeMs, maxPerPodContainer, maxContainers }: ContainerGcPolicy): Set<DeadContainer> {
  const dead = world.containers.filter(({ phase, ageMs }) => phase !== 'running' && isOldEnough(ageMs, minAgeMs)).toSorted(newestFirst);
  const removed = new Set<DeadContainer>();
  const units = new Map<string, readonly DeadContainer[]>();
  for (const [key, unit] of Map.groupBy(dead, ({ uid, name }) => `${uid}/${name}`)) {
    if (world.allSourcesReady && unit[0] && isOver(world, unit[0].uid)) unit.forEach((each) => removed.add(each));
    else units.set(key, unit);
  }
  const keep = (count: number): void => {
    for (const [key, unit] of units) {
      unit.slice(count).forEach((each) => removed.add(each));
      units.set(key, unit.slice(0, count));
    }
  };
  if (maxPerPodContainer >= 0) keep(maxPerPodContainer);
  const left = (): readonly DeadContainer[] => [...units.values()].flat();
  if (maxContainers >= 0 && left().length > maxContainers) {
    keep(Math.max(1, Math.floor(maxContainers / units.size)));
    left()
      .toSorted(newestFirst)
      .slice(maxContainers)
      .forEach((each) => removed.add(each));
  }
  return removed;
}

/** One that runs, or holds containers, stays; so does the newest of a pod that is still there. */
function oldSandboxes(world: ContainerGcWorld, used: ReadonlySet<string | undefined>): readonly SandboxOfPod[] {
  const byPod = Map.groupBy(world.sandboxes.toSorted(newestFirst), ({ uid }) => uid);
  return [...byPod].flatMap(([uid, sandboxes]) =>
    sandboxes.slice(isOver(world, uid) ? 0 : 1).filter(({ id, ready }) => !ready && !used.has(id)),
  );
}

function isOver({ podOf, evictTerminatedPods }: ContainerGcWorld, uid: string): boolean {
  const { deleted, terminated } = podOf(uid);
  return deleted || (evictTerminatedPods && terminated);
}

const newestFirst = (a: { readonly ageMs: number }, b: { readonly ageMs: number }): number => a.ageMs - b.ageMs;
