import { isDeepStrictEqual } from 'node:util';
import { CONFIG_HASH_ANNOTATION } from '../../model/config-annotations.ts';
import { fieldDifferences } from '../../model/field-differences.ts';
import type { PlannedPod } from '../../model/planned-changes.ts';
import { allContainers } from '../../model/pod-predicates.ts';
import type { Pod } from '../../model/pod.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';
import type { PlanFacts, PodAction } from '../../ports/pod-plan.ts';
import type { DesiredPod } from '../../ports/pod-store.ts';
import { changesForLater } from './changes-for-later.ts';
import { isRunning } from './instances.ts';
import { planPodLife } from './plan-pod-life.ts';

/** A pod that is declared now, as the engine has it. */
export interface PodThatRuns {
  readonly pod: Pod;
  /** With the resources that it was given in place of those that it asks for. */
  readonly given: Pod;
  readonly observed: ObservedPod;
  readonly facts: PlanFacts;
}

/** Of a pod that is another one altogether, everything differs. */
const MOST_CHANGES = 100;

/**
 * What would become of a pod if `after` took the place of what is declared now; undefined: there is none. The planner that moves pods
 * decides, applied to what its own steps bring about. `given`: the new pod with the resources that it would get in place of those that it
 * asks for.
 */
export function plannedPod(before: PodThatRuns | undefined, after: Pod | undefined, given = after): Omit<PlannedPod, 'pod' | 'file'> {
  const changes = before && after ? fieldDifferences(asWritten(before.pod), asWritten(after)) : [];
  const told = { changes: changes.slice(0, MOST_CHANGES), moreChanges: Math.max(0, changes.length - MOST_CHANGES) };
  if (!before) return { consequence: after ? 'start' : 'nothing', containers: [], because: ['no manifest declared it before'], ...told };
  if (!after || !given)
    return { consequence: 'stop', containers: [], because: [undeclared, ...(runs(before) ? [] : [nothingRuns])], ...told };
  if (before.pod.metadata.uid === after.metadata.uid)
    return { ...changed(before, given, changes.length > 0 || !isDeepStrictEqual(before.given.spec, given.spec)), ...told };
  // The uid of a static pod follows from its manifest.
  if (runs(before))
    return {
      consequence: 'recreate',
      containers: [],
      because: [`${another}: the one that runs is stopped before the new one starts`],
      ...told,
    };
  return { consequence: 'start', containers: [], because: [another, 'nothing of the old one runs'], ...told };
}

const undeclared = 'no manifest declares it any more';
const nothingRuns = 'nothing of it runs';
const another = 'its manifest makes it another pod';

type Outcome = Pick<PlannedPod, 'consequence' | 'containers' | 'because'>;

/** Whether something of it would be stopped at its end. */
function runs({ pod, observed, facts }: PodThatRuns): boolean {
  const { actions } = followed(undefined, observed, { ...facts, life: 'terminating', previousPod: pod });
  return actions.some(({ do: kind }) => kind === 'stopContainer' || kind === 'stopSandbox');
}

function changed({ given: pod, observed, facts }: PodThatRuns, after: Pod, differs: boolean): Outcome {
  if (!differs) return { consequence: 'nothing', containers: [], because: [] };
  const next = followed({ pod: after, source: 'file' }, observed, { ...facts, previousPod: pod });
  const usual = followed({ pod, source: 'file' }, observed, facts);
  const news = next.because.filter((why) => !usual.because.includes(why));
  const because = news.length > 0 ? news : next.because;
  /** Without what would happen anyway, such as the next start of a container that keeps crashing. */
  const namesOf = (kind: 'startContainer' | 'stopContainer' | 'updateContainer'): readonly string[] => {
    const anyway = new Set(namesIn(usual.actions, kind).filter((name) => isSameContainer(pod, after, name)));
    return namesIn(next.actions, kind).filter((name) => !anyway.has(name));
  };
  const [starts, stops, updates] = [namesOf('startContainer'), namesOf('stopContainer'), namesOf('updateContainer')];
  const isNew = ({ do: kind }: PodAction): boolean => kind === 'runSandbox';
  if (next.actions.some(isNew) && !usual.actions.some(isNew)) return { consequence: 'recreate', containers: [], because };
  const restarts = stops.filter((name) => starts.includes(name));
  if (restarts.length > 0) return { consequence: 'restart', containers: restarts, because };
  if (stops.length > 0) return { consequence: 'stop', containers: isAll(stops, observed) ? [] : stops, because };
  if (starts.length > 0) return { consequence: 'start', containers: starts, because };
  if (updates.length > 0) return { consequence: 'in place', containers: updates, because };
  const later = changesForLater(pod, after);
  if (later.length === 0) return { consequence: 'in place', containers: [], because: ['the pod goes on, and no container restarts'] };
  return {
    consequence: 'nothing',
    containers: [],
    because: later.map(({ container, fields }) => `container ${container} goes on: ${fields.join(', ')} count from its next start`),
  };
}

const namesIn = (actions: readonly PodAction[], kind: 'startContainer' | 'stopContainer' | 'updateContainer'): readonly string[] => [
  ...new Set(actions.flatMap((action) => (action.do === kind ? [action.name] : []))),
];

function isSameContainer(before: Pod, after: Pod, name: string): boolean {
  const [old, now] = [before, after].map(({ spec }) => allContainers(spec).find((each) => each.name === name));
  return isDeepStrictEqual(old, now);
}

function isAll(names: readonly string[], { containers }: ObservedPod): boolean {
  return containers.every((container) => !isRunning(container) || names.includes(container.name));
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
