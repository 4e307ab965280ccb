import type { Pod } from '../model/pod.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../ports/container-runtime.ts';
import { isRunning, newestOf } from './instances.ts';

export interface Leftovers {
  readonly containers: readonly ObservedContainer[];
  readonly sandboxes: readonly ObservedSandbox[];
}

/**
 * What of a living pod nobody needs any more: of each container the newest instance and the newest dead one stay, the latter for
 * `logs --previous` (the kubelet's maximum-dead-containers-per-container is 1), and a sandbox stays as long as one of its containers does.
 * So does the first one of a pod with a deadline: its age is all that a restarted agent has to count from.
 */
export function leftoversOf({ spec }: Pod, observed: ObservedPod): Leftovers {
  const removed = new Set(
    observed.containers.filter(
      (container) =>
        !isRunning(container) && container !== newestOf(observed, container.name) && container !== newestDead(observed, container.name),
    ),
  );
  const [newest, ...older] = observed.sandboxes;
  const inUse = new Set(observed.containers.filter((c) => !removed.has(c)).map((c) => sandboxOf(c, observed.sandboxes)));
  inUse.add(newest);
  if (spec.activeDeadlineSeconds !== undefined) inUse.add(older.at(-1));
  return { containers: [...removed], sandboxes: older.filter((sandbox) => !sandbox.ready && !inUse.has(sandbox)) };
}

function newestDead({ containers }: ObservedPod, name: string): ObservedContainer | undefined {
  return containers.find((container) => container.name === name && container.state.phase === 'exited');
}

/** Where the engine does not say: a pod has one sandbox at a time, so that the one that was the newest when the container was created is its own. */
function sandboxOf({ sandboxId, createdAtMs }: ObservedContainer, sandboxes: readonly ObservedSandbox[]): ObservedSandbox | undefined {
  if (sandboxId !== undefined) return sandboxes.find(({ id }) => id === sandboxId);
  return sandboxes.find((sandbox) => sandbox.createdAtMs <= createdAtMs) ?? sandboxes.at(-1);
}
