import { sidecarsOf } from '../../model/pod-predicates.ts';
import type { Pod } from '../../model/pod.ts';
import { shouldRestartContainer } from '../../model/should-restart-container.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';
import { type ComputedPodActions, computePodActions, type ContainerFacts, nothingLeft } from './compute-pod-actions.ts';
import { newestOf } from './instances.ts';
import { sandboxChanged } from './sandbox-changed.ts';

/**
 * As computePodActions, but for two things. When the sandbox is lost, a container that was created and never started has not begun: a pod
 * that a crash or a reboot caught in between would never run. And a finished pod's sidecars end one by one: what they look like meanwhile
 * does not begin the pod again.
 */
export function neededActions(pod: Pod, observed: ObservedPod, facts: ContainerFacts): ComputedPodActions {
  const lost = sandboxChanged(pod, observed).because !== undefined;
  const begun = lost ? observed.containers.filter(({ state }) => state.phase !== 'created') : observed.containers;
  const begunPod = { ...observed, containers: begun };
  const reset = facts.restartAllContainers ? computePodActions(pod, begunPod, facts) : undefined;
  if (reset && reset.containersToReset.length > 0) return reset;
  const computed = computePodActions(pod, begunPod, { ...facts, restartAllContainers: false });
  if (sidecarsOf(pod.spec).length === 0 || !appContainersHaveFinished(pod, observed)) return computed;
  const nothing = { initContainersToStart: [], containersToStart: [], ephemeralContainersToStart: [], containersToKill: [] };
  return { ...computed, ...nothing, killPod: true, createSandbox: false, because: nothingLeft(pod), initializing: undefined };
}

function appContainersHaveFinished(pod: Pod, observed: ObservedPod): boolean {
  return pod.spec.containers.every((container) => {
    const newest = newestOf(observed, container.name);
    return newest?.state.phase === 'exited' && !shouldRestartContainer(pod, container, newest.state);
  });
}
