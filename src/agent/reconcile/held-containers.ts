import { formatGoDuration } from '../../model/go-duration.ts';
import type { Container, Pod } from '../../model/pod.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';
import type { PlanFacts, RestartHold } from '../../ports/pod-plan.ts';
import type { ComputedPodActions } from './compute-pod-actions.ts';

export interface HeldContainer extends RestartHold {
  readonly container: Container;
}

/** The containers that are due but wait for their back-off: in status they are Waiting, CrashLoopBackOff. */
export function heldContainers(
  pod: Pod,
  observed: ObservedPod,
  facts: Pick<PlanFacts, 'nowMs' | 'restartHold'>,
  computed: Pick<ComputedPodActions, 'initContainersToStart' | 'containersToStart'>,
): readonly HeldContainer[] {
  return [...computed.initContainersToStart, ...computed.containersToStart].flatMap((container) => {
    const hold = facts.restartHold(pod, container, observed);
    return hold !== undefined && hold.notBeforeMs > facts.nowMs ? [{ container, ...hold }] : [];
  });
}

/** The back-off counts from the end of the last run, so its length is known without asking. */
export function describeHeld({ container: { name }, delayMs }: HeldContainer): string {
  const delay = formatGoDuration(BigInt(Math.round(delayMs)) * 1_000_000n);
  return `container ${name} waits: back-off ${delay} restarting failed container`;
}
