import { isTerminalPhase } from './pod-predicates.ts';
import type { ContainerStatus, Pod, PodStatus } from './pod.ts';

/** No app container runs or may run: each has ended, or waits (notRunning in pkg/kubelet/kubelet_pods.go). */
export function containersAreTerminal({ containerStatuses = [] }: PodStatus): boolean {
  return containerStatuses.every(({ state }: ContainerStatus) => Boolean(state?.terminated ?? state?.waiting));
}

/** Nothing that could be changed about the pod would change what runs: it ended, or is being deleted and its containers have (podAndContainersAreTerminal). */
export function isPodTerminated({ metadata }: Pick<Pod, 'metadata'>, status: PodStatus): boolean {
  return isTerminalPhase(status.phase) || (metadata.deletionTimestamp !== undefined && containersAreTerminal(status));
}

/** What may be cleaned up of the pod: all of one that was evicted, or is being deleted and whose containers ended (Kubelet.IsPodDeleted). */
export function isPodDeleted({ metadata }: Pick<Pod, 'metadata'>, status: PodStatus): boolean {
  const evicted = status.phase === 'Failed' && status.reason === 'Evicted';
  return evicted || (metadata.deletionTimestamp !== undefined && containersAreTerminal(status));
}
