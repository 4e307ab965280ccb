import type { InsufficientResource } from './node-fit.ts';
import type { PodRefusal } from './pod-admission.ts';
import type { Pod } from './pod.ts';
import { NoRoomError, podsToPreempt, without } from './preemption.ts';

/**
 * Which of the pods have to end, besides those that end anyway, so that the critical pod finds what the node lacks for it, or that none will
 * do (pkg/kubelet/preemption).
 */
export function roomFor(
  pod: Pod,
  pods: readonly Pod[],
  lacking: readonly InsufficientResource[],
  ending: readonly Pod[] = [],
): { readonly preempted: readonly Pod[] } | PodRefusal {
  const amounts = lacking.map(({ resource, requested, used, capacity }) => ({ resource, amount: requested - (capacity - used) }));
  try {
    return { preempted: podsToPreempt(pod, pods, without(amounts, ending)) };
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    const detail = `preemption: error finding a set of pods to preempt: ${error.message}`;
    return {
      reason: 'UnexpectedAdmissionError',
      message: `Unexpected error while attempting to recover from admission failure: ${detail}`,
    };
  }
}
