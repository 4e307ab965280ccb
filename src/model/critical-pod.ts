import { isMirrorPod, isStaticPod } from './mirror-pod.ts';
import type { Pod } from './pod.ts';

const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Static, mirror and system-critical pods: the node does without others before these (pkg/kubelet/types IsCriticalPod). */
export function isCriticalPod(pod: Pick<Pod, 'spec'> & { readonly metadata: Pick<Pod['metadata'], 'annotations'> }): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}
