import { containersAreTerminal } from '../model/pod-termination.ts';
import type { PodStatus } from '../model/pod.ts';

/** What a pod still holds on the node. Counts are of dead and alive. */
export interface PodRemains {
  readonly containers: number;
  readonly sandboxes: number;
  /** In words: "volumes". */
  readonly others: readonly string[];
}

/**
 * Why a pod that is being deleted must stay in the API for now; undefined: nothing of it is left, and it may go
 * (PodResourcesAreReclaimed in pkg/kubelet/kubelet_pods.go).
 */
export function whyNotReclaimed(status: PodStatus, { containers, sandboxes, others }: PodRemains): string | undefined {
  if (!containersAreTerminal(status)) return 'containers are running';
  if (containers > 0) return 'containers have not been removed';
  if (sandboxes > 0) return 'sandboxes have not been removed';
  return others.length > 0 ? `not released: ${others.join(', ')}` : undefined;
}
