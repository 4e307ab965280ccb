import { isTerminalPhase } from '../../model/pod-predicates.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';
import type { PlanFacts, PlanPod, PodAction, PodPlan } from '../../ports/pod-plan.ts';
import { isRunning } from './instances.ts';
import { planPod } from './plan-pod.ts';

/**
 * A pod's whole life: its admission, what its containers need around them, and the release of that at the end. Pure, as PlanPod says. A pod
 * that rests keeps being prepared while that may find something to do: what it sees of the API stays up to date.
 */
export const planPodLife: PlanPod = (desired, observed, facts) => {
  if (desired && facts.isToBeAdmitted) return { actions: [{ do: 'admit' }], next: 'on-change', because: [] };
  if (desired && facts.isToBeResized) return { actions: [{ do: 'resize' }], next: 'on-change', because: ['pod asks for other resources'] };
  if (facts.life === 'terminating' && isGone(observed))
    return { actions: [{ do: 'release' }], next: 'on-change', because: ['nothing of the pod is in the engine'] };
  const plan = planPod(desired, observed, facts);
  if (!desired || facts.life !== 'syncing') return plan;
  if (isTerminalPhase(facts.phase)) return observed.containers.some(isRunning) || facts.isTornDown ? plan : tornDown(plan);
  return facts.end ? plan : prepared(plan, observed, facts);
};

/** Whether nothing of the pod is in the engine. */
export function isGone({ sandboxes, containers }: Pick<ObservedPod, 'sandboxes' | 'containers'>): boolean {
  return sandboxes.length === 0 && containers.length === 0;
}

const needsRoom = ({ do: kind }: PodAction): boolean => kind === 'runSandbox' || kind === 'startContainer' || kind === 'updateContainer';

/**
 * Before the first start or change of resources, and where there is neither after all else, unless it is known that nothing is to be done for
 * it; not for a pod of which nothing runs or is to run.
 */
function prepared(plan: PodPlan, { containers }: ObservedPod, { isPrepared = false }: PlanFacts): PodPlan {
  const first = plan.actions.findIndex(needsRoom);
  if (first < 0 && (isPrepared || !containers.some(isRunning))) return plan;
  const at = first < 0 ? plan.actions.length : first;
  return { ...plan, actions: plan.actions.toSpliced(at, 0, { do: 'prepare' }) };
}

function tornDown(plan: PodPlan): PodPlan {
  return {
    ...plan,
    actions: [...plan.actions, { do: 'tearDown' }],
    because: [...plan.because, 'what only a running pod needs is released'],
  };
}
