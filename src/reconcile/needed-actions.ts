import type { Pod } from '../model/pod.ts';
import type { ObservedPod } from '../ports/container-runtime.ts';
import { type ComputedPodActions, computePodActions, type ContainerFacts } from './compute-pod-actions.ts';
import { sandboxChanged } from './sandbox-changed.ts';

/**
 * As computePodActions, but for one thing: when the sandbox is lost, a container that was created and never started has not succeeded.
 * The kubelet takes it for one that ended with code 0, and a pod that a crash or a reboot caught in between would never run.
 */
export function neededActions(pod: Pod, observed: ObservedPod, facts: ContainerFacts): ComputedPodActions {
  if (sandboxChanged(pod, observed).because === undefined) return computePodActions(pod, observed, facts);
  const begun = observed.containers.filter(({ state }) => state.phase !== 'created');
  return computePodActions(pod, { ...observed, containers: begun }, facts);
}
