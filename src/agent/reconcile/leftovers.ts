import type { Pod } from '../../model/pod.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../ports/container-runtime.ts';
import type { DeadContainersKept } from '../../ports/pod-plan.ts';
import { isRunning, neverRan, newestOf } from './instances.ts';

const one: DeadContainersKept = { perContainer: 1, isOldEnough: () => true };

export interface Leftovers {
  readonly containers: readonly ObservedContainer[];
  /** Of the containers, those that were created for a start that does not come any more. */
  readonly unstarted: readonly ObservedContainer[];
  readonly sandboxes: readonly ObservedSandbox[];
}

const nothing: Leftovers = { containers: [], unstarted: [], sandboxes: [] };

/**
 * What of a pod, living or over, is not needed any more: of each container the newest instance stays, which its restarts are counted on, and
 * the newest dead ones, for `logs --previous` (--maximum-dead-containers-per-container), and a sandbox stays as long as one of its containers does.
 * So does the first one of a pod with a deadline: its age is all that a restarted agent has to count from.
 */
export function leftoversOf({ spec }: Pod, observed: ObservedPod, life: 'living' | 'over', kept: DeadContainersKept = one): Leftovers {
  // Mostly all that is there is in use.
  if (observed.sandboxes.length <= 1 && observed.containers.every(isRunning)) return nothing;
  const unstarted = life === 'over' ? observed.containers.filter(({ state }) => neverRan(state)) : [];
  const begun = { containers: observed.containers.filter((container) => !unstarted.includes(container)) };
  const old = begun.containers.filter(
    (container) =>
      !isRunning(container) &&
      container !== newestOf(begun, container.name) &&
      !newestDead(begun, container.name, kept.perContainer).includes(container) &&
      kept.isOldEnough(container.createdAtMs),
  );
  const removed = new Set([...old, ...unstarted]);
  const [newest, ...older] = observed.sandboxes;
  const inUse = new Set(observed.containers.filter((c) => !removed.has(c)).map((c) => sandboxOf(c, observed.sandboxes)));
  inUse.add(newest);
  if (spec.activeDeadlineSeconds !== undefined) inUse.add(older.at(-1));
  return { containers: [...removed], unstarted, sandboxes: older.filter((sandbox) => !sandbox.ready && !inUse.has(sandbox)) };
}

function newestDead({ containers }: Pick<ObservedPod, 'containers'>, name: string, count: number): readonly ObservedContainer[] {
  const dead = containers.filter((container) => container.name === name && container.state.phase === 'exited');
  return count < 0 ? dead : dead.slice(0, count);
}

/** Where the engine does not say: a pod has one sandbox at a time, so that the one that was the newest when the container was created is its own. */
function sandboxOf({ sandboxId, createdAtMs }: ObservedContainer, sandboxes: readonly ObservedSandbox[]): ObservedSandbox | undefined {
  if (sandboxId !== undefined) return sandboxes.find(({ id }) => id === sandboxId);
  return sandboxes.find((sandbox) => sandbox.createdAtMs <= createdAtMs) ?? sandboxes.at(-1);
}
