import { isStaticPod } from '../../model/mirror-pod.ts';
import { isSidecar } from '../../model/pod-predicates.ts';
import type { Container, ContainerStatus, Pod } from '../../model/pod.ts';
import { restartsAfter } from '../../model/should-restart-container.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface PodPhaseFacts {
  /** Nothing is started any more: containers that have all ended decide the phase whatever would restart them, but for a static pod. */
  readonly ending?: boolean | undefined;
  /** An app container was made in the sandbox in use: sidecars that come and go do not set the pod back. */
  readonly initialized?: boolean | undefined;
  /** Containers that were stopped to be started again: how they ended has no say. */
  readonly restarting?: ReadonlySet<string> | undefined;
}

/** The reason on a container that was removed because the end of one restarts them all (pkg/kubelet/kubelet_pods.go). */
export const restartingAllContainers = 'RestartingAllContainers';

/** The phase that follows from the containers' statuses, init and app alike (getPhase in pkg/kubelet/kubelet_pods.go). */
export function podPhase(pod: Pick<Pod, 'metadata' | 'spec'>, statuses: readonly ContainerStatus[], facts: PodPhaseFacts = {}): PodPhase {
  const { containers, initContainers = [] } = pod.spec;
  const statusOf = ({ name }: Container): ContainerStatus | undefined => statuses.find((status) => status.name === name);
  const restarts: Restarts = (container, { exitCode, reason }) =>
    facts.restarting?.has(container.name) || reason === restartingAllContainers || restartsAfter(pod.spec, container, exitCode);
  const starting = initContainers.filter((one) => !isSidecar(one)).map((one) => initState(one, statusOf(one), restarts));
  if (starting.includes('failed')) return 'Failed';
  const sidecars = initContainers.filter(isSidecar).map((one) => sidecarState(statusOf(one)));
  const apps = containers.map((one) => appState(one, statusOf(one), restarts));
  const states: readonly State[] = [...apps, ...sidecars];
  const waitsForSidecar = !facts.initialized && sidecars.some((one) => one === 'unstarted' || one === 'waiting' || one === 'unclear');
  if (starting.includes('pending') || waitsForSidecar || states.includes('waiting')) return 'Pending';
  if (states.includes('unknown') || states.includes('unclear')) return 'Pending';
  if (states.includes('running') || states.includes('unstarted')) return 'Running';

  const stopped = apps.filter((one) => typeof one === 'object');
  if (stopped.length === 0) return 'Pending';
  const over = facts.ending && !isStaticPod(pod);
  if (!over && stopped.some((one) => one.restarts)) return 'Running';
  return stopped.every(({ succeeded }) => succeeded) ? 'Succeeded' : 'Failed';
}

/** Those that wait to run again count as stopped, but not as succeeded. */
interface Stopped {
  readonly restarts: boolean;
  readonly succeeded: boolean;
}

/** `unstarted`: it runs and has not passed its startup probe. `unclear`: it has a status that says nothing. `past`: without a say. */
type State = 'pending' | 'waiting' | 'running' | 'unstarted' | 'failed' | 'unknown' | 'unclear' | 'past' | Stopped;

type Restarts = (container: Container, ended: { readonly exitCode: number; readonly reason?: string }) => boolean;

function initState(container: Container, status: ContainerStatus | undefined, restarts: Restarts): State {
  const { running, terminated, waiting } = status?.state ?? {};
  const ended = terminated ?? (waiting && status?.lastState?.terminated);
  if (running || !ended) return 'pending';
  return ended.exitCode === 0 || restarts(container, ended) ? 'past' : 'failed';
}

function appState(container: Container, status: ContainerStatus | undefined, restarts: Restarts): State {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running) return 'running';
  if (terminated) return { restarts: restarts(container, terminated), succeeded: terminated.exitCode === 0 };
  if (!waiting) return 'unknown';
  const before = status?.lastState?.terminated;
  return before ? { restarts: restarts(container, before), succeeded: false } : 'waiting';
}

function sidecarState(status: ContainerStatus | undefined): State {
  if (status === undefined) return 'unknown';
  const { running, terminated, waiting } = status.state ?? {};
  if (running) return status.started ? 'running' : 'unstarted';
  if (terminated) return 'past';
  if (waiting) return status.lastState?.terminated ? 'past' : 'waiting';
  return 'unclear';
}
