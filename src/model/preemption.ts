import { isCriticalPod } from './critical-pod.ts';
import { podResourceRequest } from './pod-resources.ts';
import type { Pod } from './pod.ts';
import { podQosClass } from './qos.ts';

/** How much of a resource is lacking: millicores of cpu, else whole units. */
export interface Lacking {
  readonly resource: string;
  readonly amount: bigint;
}

/** What events say of a pod that is preempted. */
export const PREEMPTED = 'Preempted in order to admit critical pod';

/** How a pod ends that is preempted: in its own grace period. */
export const preemptedEnd = {
  reason: 'Preempting',
  message: PREEMPTED,
  condition: 'Pod was preempted by Kubelet to accommodate a critical pod.',
  graceSeconds: undefined,
} as const;

/** Why no pods can make room, in the kubelet's words. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
}

/**
 * The pods to kill so that a critical pod finds what is lacking: as few as will do, best effort before burstable before guaranteed
 * (getPodsToPreempt in pkg/kubelet/preemption). Throws NoRoomError.
 */
export function podsToPreempt(preemptor: Pod, pods: readonly Pod[], lacking: readonly Lacking[]): readonly Pod[] {
  const mayGo = pods.filter((pod) => isPreemptable(preemptor, pod));
  const of = (qos: string): readonly Pod[] => mayGo.filter((pod) => (pod.status?.qosClass || podQosClass(pod)) === qos);
  const [bestEffort, burstable, guaranteed] = [of('BestEffort'), of('Burstable'), of('Guaranteed')];
  const never = without(lacking, [...bestEffort, ...burstable, ...guaranteed]);
  if (never.length > 0) throw noRoom(never);
  const guaranteedToGo = nearest(guaranteed, without(lacking, [...bestEffort, ...burstable]));
  const burstableToGo = nearest(burstable, without(lacking, [...bestEffort, ...guaranteedToGo]));
  const bestEffortToGo = nearest(bestEffort, without(lacking, [...burstableToGo, ...guaranteedToGo]));
  return [...bestEffortToGo, ...burstableToGo, ...guaranteedToGo];
}

/** pkg/kubelet/types Preemptable */
function isPreemptable(preemptor: Pod, pod: Pod): boolean {
  if (isCriticalPod(preemptor) && !isCriticalPod(pod)) return true;
  const [its, own] = [preemptor.spec.priority, pod.spec.priority];
  return its !== undefined && own !== undefined && its > own;
}

/** What is still lacking once these pods have ended. */
export function without(lacking: readonly Lacking[], pods: readonly Pod[]): readonly Lacking[] {
  return lacking
    .map(({ resource, amount }) => ({ resource, amount: pods.reduce((left, pod) => left - podResourceRequest(pod, resource), amount) }))
    .filter(({ amount }) => amount > 0n);
}

/** One after the other the pod that comes nearest to what is still lacking; of two the smaller. */
function nearest(pods: readonly Pod[], lacking: readonly Lacking[]): readonly Pod[] {
  const left = [...pods];
  const chosen: Pod[] = [];
  for (let open = lacking; open.length > 0;) {
    let best: { readonly index: number; readonly pod: Pod; readonly distance: number } | undefined;
    for (const [index, pod] of left.entries()) {
      const distance = distanceOf(pod, open);
      if (best === undefined || distance < best.distance || (distance === best.distance && isSmaller(pod, best.pod)))
        best = { index, pod, distance };
    }
    if (best === undefined) throw noRoom(open);
    open = without(open, [best.pod]);
    chosen.push(best.pod);
    // As the kubelet has it: the last takes the place of the one that goes.
    const last = left.pop();
    if (last !== undefined && best.index < left.length) left[best.index] = last;
  }
  return chosen;
}

/** Each resource weighs the same, whatever its amount. */
function distanceOf(pod: Pod, lacking: readonly Lacking[]): number {
  return lacking.reduce((sum, { resource, amount }) => {
    const rest = Number(amount - podResourceRequest(pod, resource));
    return rest > 0 ? sum + (rest / Number(amount)) ** 2 : sum;
  }, 0);
}

function isSmaller(pod: Pod, other: Pod): boolean {
  for (const resource of ['memory', 'cpu']) {
    const [own, its] = [podResourceRequest(pod, resource), podResourceRequest(other, resource)];
    if (own !== its) return own < its;
  }
  return true;
}

function noRoom(lacking: readonly Lacking[]): NoRoomError {
  const list = lacking.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('');
  return new NoRoomError(`no set of running pods found to reclaim resources: [${list}]`);
}
