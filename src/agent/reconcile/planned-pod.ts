import { CONFIG_HASH_ANNOTATION } from '../../model/config-annotations.ts';
import { fieldDifferences } from '../../model/field-differences.ts';
import type { PlannedPod } from '../../model/planned-changes.ts';
import type { Pod } from '../../model/pod.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';
import type { PlanFacts, PodAction } from '../../ports/pod-plan.ts';
import type { DesiredPod } from '../../ports/pod-store.ts';
import { changesForLater } from './changes-for-later.ts';
import { planPodLife } from './plan-pod-life.ts';

/** A pod that is declared now, as the engine has it. */
export interface PodThatRuns {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly facts: PlanFacts;
}

/** Of a pod that is another one altogether, everything differs. */
const MOST_CHANGES = 100;

/**
 * What would become of a pod if `after` took the place of what is declared now; undefined: there is none. The planner that moves pods
 * decides, applied to what its own steps bring about.
 */
export function plannedPod(before: PodThatRuns | undefined, after: Pod | undefined): Omit<PlannedPod, 'pod' | 'file'> {
  const changes = before && after ? fieldDifferences(asWritten(before.pod), asWritten(after)) : [];
  const told = { changes: changes.slice(0, MOST_CHANGES), moreChanges: Math.max(0, changes.length - MOST_CHANGES) };
  if (!before) return { consequence: after ? 'start' : 'nothing', containers: [], because: ['no manifest declared it before'], ...told };
  if (!after) return { ...ended(before, 'no manifest declares it any more'), ...told };
  if (before.pod.metadata.uid !== after.metadata.uid) {
    // The uid of a static pod follows from its manifest.
    const { because } = ended(before, 'its manifest makes it another pod: the one that runs is stopped before the new one starts');
    return { consequence: 'recreate', containers: [], because, ...told };
  }
  return { ...changed(before, after, changes.length > 0), ...told };
}

type Outcome = Pick<PlannedPod, 'consequence' | 'containers' | 'because'>;

function ended({ pod, observed, facts }: PodThatRuns, because: string): Outcome {
  const { actions } = followed(undefined, observed, { ...facts, life: 'terminating', previousPod: pod });
  const stops = actions.some(({ do: kind }) => kind === 'stopContainer' || kind === 'stopSandbox');
  return { consequence: 'stop', containers: [], because: [because, ...(stops ? [] : ['nothing of it runs'])] };
}

function changed({ pod, observed, facts }: PodThatRuns, after: Pod, differs: boolean): Outcome {
  const desired: DesiredPod = { pod: after, source: 'file' };
  const { actions, because } = followed(desired, observed, { ...facts, previousPod: pod });
  const namesOf = (kind: 'startContainer' | 'stopContainer' | 'updateContainer'): readonly string[] => [
    ...new Set(actions.flatMap((action) => (action.do === kind ? [action.name] : []))),
  ];
  const [starts, stops, updates] = [namesOf('startContainer'), namesOf('stopContainer'), namesOf('updateContainer')];
  if (actions.some(({ do: kind }) => kind === 'runSandbox')) return { consequence: 'recreate', containers: [], because };
  const restarts = stops.filter((name) => starts.includes(name));
  if (restarts.length > 0) return { consequence: 'restart', containers: restarts, because };
  if (stops.length > 0) return { consequence: 'stop', containers: stops, because };
  if (starts.length > 0) return { consequence: 'start', containers: starts, because };
  if (updates.length > 0) return { consequence: 'in place', containers: updates, because };
  if (!differs) return { consequence: 'nothing', containers: [], because: [] };
  const later = changesForLater(pod, after);
  if (later.length === 0) return { consequence: 'in place', containers: [], because: ['the pod goes on, and no container restarts'] };
  return {
    consequence: 'nothing',
    containers: [],
    because: later.map(({ container, fields }) => `container ${container} goes on: ${fields.join(', ')} count from its next start`),
  };
}

/** The planner's steps, one look after the other, until something starts or nothing is left to be done at once. */
function followed(
  desired: DesiredPod | undefined,
  from: ObservedPod,
  facts: PlanFacts,
): { actions: readonly PodAction[]; because: readonly string[] } {
  let observed = from;
  const actions: PodAction[] = [];
  const because = new Set<string>();
  // Each look stops at least one container.
  for (let looks = 0; looks <= from.containers.length; looks++) {
    const plan = planPodLife(desired, observed, facts);
    actions.push(...plan.actions);
    for (const why of plan.because) because.add(why);
    const stopped = new Set(plan.actions.flatMap((action) => (action.do === 'stopContainer' ? [action.id] : [])));
    const goesOn = stopped.size > 0 && plan.next !== 'on-change' && plan.next.afterMs === 0;
    if (!goesOn || plan.actions.some(({ do: kind }) => kind === 'startContainer' || kind === 'runSandbox')) break;
    const at = { startedAtMs: 0, finishedAtMs: facts.nowMs, exitCode: 0, reason: 'Completed', message: '' };
    observed = {
      ...observed,
      containers: observed.containers.map((one) => (stopped.has(one.id) ? { ...one, state: { phase: 'exited', ...at } } : one)),
    };
  }
  return { actions, because: [...because] };
}

/** What its author writes: without what the agent adds, and a static pod's uid, which follows from the rest. */
function asWritten(pod: Pod): unknown {
  const { name, namespace, labels, annotations = {}, uid } = pod.metadata;
  const written = Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('kubernetes.io/config.')));
  return {
    metadata: { name, namespace, labels, annotations: written, ...(CONFIG_HASH_ANNOTATION in annotations ? {} : { uid }) },
    spec: pod.spec,
  };
}
