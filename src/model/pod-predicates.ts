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
 * What is left of activeDeadlineSeconds for a pod that began `ageMs` ago, in milliseconds: 0 or less, it is over. Undefined without a deadline
 * or a start (pkg/kubelet/active_deadline.go).
 */
export function deadlineLeftMs({ spec: { activeDeadlineSeconds } }: Pod, ageMs: number | undefined): number | undefined {
  return activeDeadlineSeconds === undefined || ageMs === undefined ? undefined : activeDeadlineSeconds * 1000 - ageMs;
}
