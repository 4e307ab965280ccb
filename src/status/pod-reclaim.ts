import { containersAreTerminal } from '../model/pod-termination.ts';
import type { PodStatus } from '../model/pod.ts';

/** What a pod still holds on the node. Counts are of dead and alive. */
export interface PodRemains {
  readonly containers: number;
  readonly sandboxes: number;
  /** A volume of the pod is still mounted; directories alone do not count. */
  readonly volumes: boolean;
  /** The pod's own cgroup, where there is one. */
  readonly cgroup: boolean;
}

/**
 * Why a pod that is being deleted must stay in the API for now; undefined: nothing of it is left, and it may go
 * (PodResourcesAreReclaimed in pkg/kubelet/kubelet_pods.go).
 */
export function whyNotReclaimed(status: PodStatus, { containers, sandboxes, volumes, cgroup }: PodRemains): string | undefined {
  if (!containersAreTerminal(status)) return 'containers are running';
  if (containers > 0) return 'containers have not been removed';
  if (sandboxes > 0) return 'sandboxes have not been removed';
  if (volumes) return 'volumes have not been cleaned up';
  return cgroup ? 'its cgroup has not been removed' : undefined;
}
