import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { Cause, CauseKind, ExplainedInShort, ExplainedState, Explanation } from '../model/explanation.ts';
import { containerCauses } from './causes/container-causes.ts';
import { lifeCauses } from './causes/life-causes.ts';
import { sideCauses } from './causes/side-causes.ts';
import { stepCauses } from './causes/step-causes.ts';
import { containerViews } from './container-view.ts';
import { describeContainer } from './describe-container.ts';
import { describeDecision, describeStep } from './describe-decision.ts';
import { isStopping, type PodFacts } from './pod-facts.ts';

/** Of a pod of thousands of containers the first say enough. */
const MOST_CAUSES = 20;

const weights: Readonly<Record<CauseKind, number>> = { fault: 0, wait: 1, note: 2 };

/** Why the pod is in the state that it is in. Pure. */
export function explainPod(facts: PodFacts): Explanation {
  const { seen, uid, origin, dateOffsetMs, declared } = facts;
  const views = containerViews(facts);
  const causes = causesOf(facts, views);
  const { last, acted, step } = seen;
  const shown = acted ?? last;
  const phase = seen.status?.phase ?? declared?.status?.phase;
  const nextLook = nextLookMs(facts);
  return {
    pod: seen.pod,
    uid,
    origin,
    state: stateOf(facts, causes),
    ...(phase === undefined ? {} : { phase }),
    ...(seen.phaseSinceMs === undefined ? {} : { sinceMs: seen.phaseSinceMs }),
    causes,
    containers: views.map((view) => describeContainer(facts, view)),
    ...(step ? { underWay: { what: describeStep(step.action), sinceMs: step.sinceMs } } : {}),
    ...(shown ? { decision: describeDecision(shown, dateOffsetMs) } : {}),
    ...(nextLook === undefined ? {} : { nextLookMs: nextLook }),
    events: seen.events.map(({ container, ...event }) => ({ ...event, ...(container === undefined ? {} : { container }) })),
  };
}

/** A date; undefined: when something changes. */
function nextLookMs({ seen: { last, step, retryAtMs, goneAtMs } }: PodFacts): number | undefined {
  if (!last || step || goneAtMs !== undefined) return undefined;
  const { next } = last.record;
  return typeof next === 'object' ? last.endedAtMs + next.afterMs : retryAtMs;
}

/** The true one first: what is wrong with the pod as a whole, then with its containers in the order of their start, then beside them. */
function causesOf(facts: PodFacts, views: ReturnType<typeof containerViews>): readonly Cause[] {
  const { seen } = facts;
  const life = lifeCauses(facts);
  const isOver = isTerminalPhase(seen.status?.phase);
  const isGoing = isStopping(facts) || seen.goneAtMs !== undefined;
  // How a pod as a whole ended says more than that its containers were killed for it.
  const hasEnd = life.some(({ kind }) => kind === 'fault') && (isOver || isGoing);
  const inner = hasEnd || isGoing ? [] : [...containerCauses(facts, views), ...stepCauses(facts)];
  const all = [...life, ...inner, ...(isGoing ? [] : sideCauses(facts))];
  return all.toSorted((a, b) => weights[a.kind] - weights[b.kind]).slice(0, MOST_CAUSES);
}

function stateOf(facts: PodFacts, causes: readonly Cause[]): ExplainedState {
  const { status, last, goneAtMs } = facts.seen;
  if (goneAtMs !== undefined) return 'gone';
  if (isStopping(facts)) return 'stopping';
  if (status?.phase === 'Failed' && (status.containerStatuses ?? []).length === 0 && status.reason) return 'refused';
  if (isTerminalPhase(status?.phase)) return 'ended';
  const [worst] = causes;
  if (worst?.kind === 'fault') return 'sick';
  if (worst?.kind === 'wait') return 'waiting';
  return last === undefined || status?.phase !== 'Running' ? 'waiting' : 'well';
}

/** One line of the list. */
export function inShort(explanation: Explanation): ExplainedInShort {
  const { pod, uid, origin, state, phase, sinceMs, causes, containers, nextLookMs } = explanation;
  const [cause] = causes;
  const pull = containers.find(
    (each) => each.pull?.stage === 'waiting' || each.pull?.stage === 'begun' || each.pull?.stage === 'under way',
  )?.pull;
  return {
    pod,
    ...(uid === undefined ? {} : { uid }),
    ...(origin.where === undefined ? {} : { where: origin.where }),
    state,
    ...(phase === undefined ? {} : { phase }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(cause
      ? {
          cause: {
            code: cause.code,
            kind: cause.kind,
            text: cause.text,
            ...(cause.container === undefined ? {} : { container: cause.container }),
            ...(cause.untilMs === undefined ? {} : { untilMs: cause.untilMs }),
          },
        }
      : {}),
    ...(pull ? { pull } : {}),
    restarts: containers.reduce((sum, { restarts }) => sum + restarts, 0),
    ...(nextLookMs === undefined ? {} : { nextLookMs }),
  };
}
