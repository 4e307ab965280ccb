import { isSidecar } from '../model/pod-predicates.ts';
import type { Container, ContainerStatus, PodSpec } from '../model/pod.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/**
 * The phase that follows from the containers' statuses, init and app alike. getPhase in pkg/kubelet/kubelet_pods.go, and sidecars as of 1.29.
 * `ending`: nothing is started any more, so that containers that have all ended decide the phase under any restart policy (as of 1.27).
 */
export function podPhase(spec: PodSpec, statuses: readonly ContainerStatus[], ending = false): PodPhase {
  const statusOf = ({ name }: Container): ContainerStatus | undefined => statuses.find((status) => status.name === name);
  const inits = spec.initContainers ?? [];
  const init = count(inits.filter((container) => !isSidecar(container)).map((container) => initState(statusOf(container))));
  if (init.failed > 0 && spec.restartPolicy === 'Never') return 'Failed';

  const apps = spec.containers.map((container) => appState(statusOf(container)));
  const app = count(apps);
  const sidecarStatuses = inits.filter(isSidecar).map(statusOf);
  const sidecar = count(sidecarStatuses.map(sidecarState));
  // Sidecars that come and go do not set an initialized pod back.
  const initialized = app.running + app.succeeded + app.failed > 0;
  const unstarted = sidecarStatuses.some((status) => sidecarState(status) === 'running' && status?.started !== true);
  const sidecarsPending = !initialized && (unstarted || sidecar.waiting + sidecar.unknown > 0);
  const waiting = app.waiting + sidecar.waiting;
  if (init.pending > 0 || sidecarsPending || waiting > 0) return 'Pending';
  if (app.unknown + sidecar.unknown > 0) return 'Pending';
  if (app.running + sidecar.running > 0) return 'Running';

  const stopped = app.succeeded + app.failed;
  if (stopped === 0) return 'Pending';
  if (spec.restartPolicy === 'Always' && !ending) return 'Running';
  // Those that wait to run again count as stopped, but not as succeeded.
  if (app.succeeded === stopped) return 'Succeeded';
  return spec.restartPolicy === 'Never' || ending ? 'Failed' : 'Running';
}

type State = 'pending' | 'waiting' | 'running' | 'succeeded' | 'failed' | 'unknown' | 'past';

function count(states: readonly State[]): Readonly<Record<State, number>> {
  const counts = { pending: 0, waiting: 0, running: 0, succeeded: 0, failed: 0, unknown: 0, past: 0 };
  for (const state of states) counts[state]++;
  return counts;
}

function initState(status: ContainerStatus | undefined): State {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running) return 'pending';
  if (terminated) return terminated.exitCode === 0 ? 'past' : 'failed';
  const last = waiting && status?.lastState?.terminated;
  if (last) return last.exitCode === 0 ? 'past' : 'failed';
  return 'pending';
}

function appState(status: ContainerStatus | undefined): State {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running) return 'running';
  if (terminated) return terminated.exitCode === 0 ? 'succeeded' : 'failed';
  if (waiting) return status?.lastState?.terminated ? 'failed' : 'waiting';
  return 'unknown';
}

function sidecarState(status: ContainerStatus | undefined): State {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running) return 'running';
  if (terminated) return 'past';
  if (waiting) return status?.lastState?.terminated ? 'past' : 'waiting';
  return 'unknown';
}
