import type { Container, Pod, PodSpec } from './pod.ts';

/** An init container that stays (native sidecar): the next one goes on once it has started, and it ends after the app containers. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** The sidecars among the init containers, in the order in which they start. */
export function sidecarsOf(spec: PodSpec | undefined): readonly Container[] {
  return (spec?.initContainers ?? []).filter(isSidecar);
}

/** Containers of every kind. What was added to a running pod is a container like any other, with two fields less and one more. */
export function allContainers({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers];
}

/** A phase that a pod never leaves. */
export function isTerminalPhase(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Whether a failed container of this pod is ever tried again. */
export function restartsOnFailure(pod: Pod): boolean {
  return pod.spec.restartPolicy !== 'Never';
}

/**
 * When activeDeadlineSeconds is over, in milliseconds since the epoch; undefined without a deadline or a start
 * (pkg/kubelet/active_deadline.go).
 */
export function deadlineMs(pod: Pod, startTimeMs: number | undefined): number | undefined {
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined || startTimeMs === undefined) return undefined;
  return startTimeMs + activeDeadlineSeconds * 1000;
}
