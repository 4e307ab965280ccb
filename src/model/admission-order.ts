import { isStaticPod } from './mirror-pod.ts';
import type { Pod } from './pod.ts';
import { parseTime } from './time.ts';

/**
 * Pods that are known together, in the order in which a node decides about them: static pods, then those that began under an agent before
 * this one, then the others; in each of these the oldest first (HandlePodAdditions in pkg/kubelet sorts by creation time). What was created
 * in the same second stays in the order in which it was declared.
 */
export function inAdmissionOrder(pods: readonly Pod[]): readonly Pod[] {
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod), createdAtMs: parseTime(pod.metadata.creationTimestamp) ?? 0 }));
  return ranked.toSorted((a, b) => a.rank - b.rank || a.createdAtMs - b.createdAtMs).map(({ pod }) => pod);
}

/** The status gets its startTime when a kubelet takes the pod on. */
function rankOf(pod: Pod): number {
  if (isStaticPod(pod)) return 0;
  return pod.status?.startTime === undefined ? 2 : 1;
}
