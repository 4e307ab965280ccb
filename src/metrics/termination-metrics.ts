import type { ContainerStatus } from '../model/pod.ts';
import type { StatusChange } from '../ports/pod-statuses.ts';
import type { MetricSet } from './metric-set.ts';

const types = [
  ['init_container', 'initContainerStatuses'],
  ['container', 'containerStatuses'],
  ['ephemeral_container', 'ephemeralContainerStatuses'],
] as const;

/** Counts containers whose status says for the first time that they have ended (pkg/kubelet/status/status_manager.go). */
export function terminationMetrics(set: MetricSet): (change: StatusChange) => void {
  const terminated = set.counter('kubelet_terminated_containers_total', 'Cumulative number of container terminations.', [
    'container_type',
    'exit_code',
    'reason',
  ]);
  return ({ pod, status, previous = pod.status }) => {
    for (const [container_type, list] of types) {
      for (const { name, state } of status[list] ?? []) {
        if (!state?.terminated || hasEnded(previous?.[list], name)) continue;
        const { exitCode, reason = '' } = state.terminated;
        terminated.inc({ container_type, exit_code: String(exitCode), reason });
      }
    }
  };
}

const hasEnded = (statuses: readonly ContainerStatus[] | undefined, name: string): boolean =>
  statuses?.some((each) => each.name === name && each.state?.terminated !== undefined) ?? false;
