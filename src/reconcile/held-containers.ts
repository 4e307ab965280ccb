import { formatGoDuration } from '../model/go-duration.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { ObservedPod } from '../ports/container-runtime.ts';
import type { HeldStart, PlanFacts } from '../ports/pod-plan.ts';
import type { ComputedPodActions } from './compute-pod-actions.ts';
import { instancesOf } from './instances.ts';

export interface HeldContainer extends Pick<HeldStart, 'notBeforeMs'> {
  readonly container: Container;
}

/** The containers that are due but wait for their back-off: in status they are Waiting, CrashLoopBackOff. */
export function heldContainers(
  pod: Pod,
  observed: ObservedPod,
  facts: Pick<PlanFacts, 'nowMs' | 'restartNotBeforeMs'>,
  computed: Pick<ComputedPodActions, 'initContainersToStart' | 'containersToStart'>,
): readonly HeldContainer[] {
  return [...computed.initContainersToStart, ...computed.containersToStart].flatMap((container) => {
    const notBeforeMs = facts.restartNotBeforeMs(pod, container, observed);
    return notBeforeMs !== undefined && notBeforeMs > facts.nowMs ? [{ container, notBeforeMs }] : [];
  });
}

/** The back-off counts from the end of the last run, so its length is known without asking. */
export function describeHeld({ container: { name }, notBeforeMs }: HeldContainer, observed: ObservedPod): string {
  const last = instancesOf(observed, name).find(({ state }) => state.phase === 'exited');
  if (last?.state.phase !== 'exited') return `container ${name} waits: its start is held back`;
  const delay = formatGoDuration(BigInt(Math.round(notBeforeMs - last.state.finishedAtMs)) * 1_000_000n);
  return `container ${name} waits: back-off ${delay} restarting failed container`;
}
