import { isSidecar } from '../model/pod-predicates.ts';
import type { Container, ContainerStatus, Pod } from '../model/pod.ts';
import { parseTime } from '../model/time.ts';
import type { ExplainedContainer } from '../model/explanation.ts';
import type { ProbeTried } from '../ports/happenings.ts';
import type { PodFacts, SeenEvent, SeenPull } from './pod-facts.ts';

/** One container, with all that is known of it. */
export interface ContainerView {
  readonly name: string;
  readonly kind: ExplainedContainer['kind'];
  /** Undefined: its pod is no longer declared. */
  readonly spec: Container | undefined;
  readonly status: ContainerStatus | undefined;
  readonly pull: SeenPull | undefined;
  readonly probes: Readonly<Partial<Record<ProbeTried['kind'], readonly ProbeTried[]>>>;
  /** Of this container, oldest first. */
  readonly events: readonly SeenEvent[];
  readonly lastLines: readonly string[];
}

export type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

/** In the order in which they start: init containers and sidecars first. */
export function containerViews(facts: PodFacts): readonly ContainerView[] {
  const { pod, seen } = facts;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = seen.status ?? pod?.status ?? {};
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  const initKind = (spec: Container | undefined): ContainerView['kind'] => (spec && isSidecar(spec) ? 'sidecar' : 'init');
  return [
    ...views(facts, initContainers, initContainerStatuses, initKind),
    ...views(facts, containers, containerStatuses, () => 'app'),
    ...views(facts, ephemeralContainers, ephemeralContainerStatuses, () => 'ephemeral'),
  ];
}

function views(
  { seen, lastLines, pod }: PodFacts,
  specs: readonly Container[],
  statuses: readonly ContainerStatus[],
  kindOf: (spec: Container | undefined) => ContainerView['kind'],
): readonly ContainerView[] {
  const byName = new Map(statuses.map((status) => [status.name, status]));
  const names = specs.length > 0 ? specs.map(({ name }) => name) : [...byName.keys()];
  const specOf = new Map(specs.map((spec) => [spec.name, spec]));
  return names.map((name) => {
    const spec = specOf.get(name);
    return {
      name,
      spec,
      kind: kindOf(spec),
      status: byName.get(name),
      pull: tellingPull(seen.pulls, name, imagesOf(pod, spec)),
      probes: {
        startup: seen.probes.get(`${name} startup`) ?? [],
        readiness: seen.probes.get(`${name} readiness`) ?? [],
        liveness: seen.probes.get(`${name} liveness`) ?? [],
      },
      events: seen.events.filter(({ container }) => container === name),
      lastLines: lastLines.get(name) ?? [],
    };
  });
}

/** Its own, and those of its image volumes; undefined: not known. */
function imagesOf(pod: Pod | undefined, spec: Container | undefined): readonly string[] | undefined {
  if (spec === undefined) return undefined;
  const mounted = new Set((spec.volumeMounts ?? []).map(({ name }) => name));
  const shown = (pod?.spec.volumes ?? []).flatMap(({ name, image }) =>
    mounted.has(name) && image?.reference !== undefined ? [image.reference] : [],
  );
  return [spec.image ?? '', ...shown];
}

/** The newest of those that are not done, else of all. */
function tellingPull(pulls: ReadonlyMap<string, SeenPull>, name: string, images: readonly string[] | undefined): SeenPull | undefined {
  const own = [...pulls.values()].filter(({ pull }) => pull.container === name && (images === undefined || images.includes(pull.image)));
  const isDone = ({ pull }: SeenPull): number => (pull.stage === 'pulled' ? 1 : 0);
  return own.toSorted((a, b) => isDone(a) - isDone(b) || b.atMs - a.atMs)[0];
}

/** How it ended last: what it is now, or was before it was started again. */
export function lastEnd({ status }: ContainerView): Terminated | undefined {
  return status?.state?.terminated ?? status?.lastState?.terminated;
}

/** A date; undefined where there is none. */
export const dateMs = (time: string | undefined): number | undefined => (time === undefined ? undefined : parseTime(time));

/** "container app", "init container setup" */
export const title = ({ kind, name }: Pick<ContainerView, 'kind' | 'name'>): string =>
  ({ app: 'container', init: 'init container', sidecar: 'sidecar', ephemeral: 'ephemeral container' })[kind] + ` ${name}`;
