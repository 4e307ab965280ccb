import { quote } from './go-text.ts';
import { isSidecar, sidecarsOf } from './pod-predicates.ts';
import type { Container, ContainerStatus, PodCondition, PodSpec } from './pod.ts';

/** The conditions that the kubelet owns (pkg/kubelet/types/pod_status.go); all others belong to those who set them. */
export const kubeletConditions: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'PodResizePending',
  'PodResizeInProgress',
  'AllContainersRestarting',
]);

/** That the kubelet itself ends a pod; others set the same condition for reasons of their own. */
export const terminationByKubelet = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' } as const;

/** Whether the kubelet says this, and no one else. */
export const isKubeletCondition = ({ type, reason }: Pick<PodCondition, 'type' | 'reason'>): boolean =>
  kubeletConditions.has(type) || (type === terminationByKubelet.type && reason === terminationByKubelet.reason);

/** Undefined statuses: nothing is known. */
type Statuses = readonly ContainerStatus[] | undefined;

/** ContainersReady: all app containers and sidecars are (GenerateContainersReadyCondition in pkg/kubelet/status/generate.go). */
export function containersReadyCondition(
  spec: PodSpec,
  statuses: Statuses,
  phase: string | undefined,
  initStatuses?: Statuses,
): PodCondition {
  const type = 'ContainersReady';
  if (statuses === undefined) return { type, status: 'False', reason: 'UnknownContainerStatuses' };
  const { unknown, unready } = sortOut(
    [...sidecarsOf(spec), ...spec.containers],
    [...(initStatuses ?? []), ...statuses],
    ({ ready }) => ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
  const message = complaints(unknown, unready, 'unready');
  if (message !== '') return { type, status: 'False', reason: 'ContainersNotReady', message };
  return { type, status: 'True' };
}

/** Ready: the containers are, and every readiness gate has its condition (GeneratePodReadyCondition). */
export function podReadyCondition(
  spec: PodSpec,
  conditions: readonly PodCondition[] | undefined,
  statuses: Statuses,
  phase: string | undefined,
  initStatuses?: Statuses,
): PodCondition {
  const type = 'Ready';
  const containersReady = containersReadyCondition(spec, statuses, phase, initStatuses);
  if (containersReady.status !== 'True') return { ...containersReady, type };
  const messages = (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = conditions?.find((one) => one.type === conditionType);
    const gate = quote(conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate ${gate} does not exist.`];
    return condition.status === 'True' ? [] : [`the status of pod readiness gate ${gate} is not "True", but ${condition.status}`];
  });
  if (messages.length > 0) return { type, status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
  return { type, status: 'True' };
}

/**
 * Initialized: plain init containers have succeeded and sidecars started, or an app container has run (GeneratePodInitializedCondition). What
 * was initialized stays so.
 */
export function podInitializedCondition(
  spec: PodSpec,
  initStatuses: Statuses,
  phase: string | undefined,
  appContainersHaveRun = false,
  wasInitialized = false,
): PodCondition {
  const type = 'Initialized';
  const inits = spec.initContainers ?? [];
  if (initStatuses === undefined && inits.length > 0) return { type, status: 'False', reason: 'UnknownContainerStatuses' };
  const { unknown, unready } = sortOut(inits, initStatuses ?? [], ({ ready, started }, container) =>
    isSidecar(container) ? started === true : ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'True', reason: 'PodCompleted' };
  const message = complaints(unknown, unready, 'incomplete');
  if (message === '' || appContainersHaveRun || wasInitialized) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotInitialized', message };
}

function sortOut(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  isReady: (status: ContainerStatus, container: Container) => boolean,
): { readonly unknown: readonly string[]; readonly unready: readonly string[] } {
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const container of containers) {
    const status = statuses.find(({ name }) => name === container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!isReady(status, container)) unready.push(container.name);
  }
  return { unknown, unready };
}

function complaints(unknown: readonly string[], unready: readonly string[], word: string): string {
  const list = (what: string, names: readonly string[]): readonly string[] =>
    names.length > 0 ? [`containers with ${what} status: [${names.join(' ')}]`] : [];
  return [...list('unknown', unknown), ...list(word, unready)].join(', ');
}
