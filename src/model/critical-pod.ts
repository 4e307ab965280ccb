import { isMirrorPod, isStaticPod } from './mirror-pod.ts';
import type { Pod } from './pod.ts';

const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Static, mirror and system-critical pods: the node does without others before these (pkg/kubelet/types IsCriticalPod). */
export function isCriticalPod(pod: Pick<Pod, 'spec'> & { readonly metadata: Pick<Pod['metadata'], 'annotations'> }): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Of those the ones that the node itself cannot do without (pkg/kubelet/types IsNodeCriticalPod). */
export function isNodeCriticalPod(pod: Parameters<typeof isCriticalPod>[0]): boolean {
  return isCriticalPod(pod) && pod.spec.priorityClassName === 'system-node-critical';
}
