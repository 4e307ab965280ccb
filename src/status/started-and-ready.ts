import { isSidecar } from '../model/pod-predicates.ts';
import type { ContainerStatus, Pod } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import type { ContainerId } from '../ports/container-runtime.ts';

/** What the probes last found. */
export interface ProbeFindings {
  readonly startup: (id: ContainerId) => ProbeResult | undefined;
  readonly readiness: (id: ContainerId) => ProbeResult | undefined;
}

/** UpdatePodStatus in pkg/kubelet/prober: what has no probe has started and is ready as soon as it runs. */
export function startedAndReady(
  { spec }: Pick<Pod, 'spec'>,
  status: ContainerStatus,
  { startup, readiness }: ProbeFindings,
): ContainerStatus {
  const container = [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === status.name);
  const passed = (probe: unknown, result: (id: ContainerId) => ProbeResult | undefined): boolean => {
    if (!status.state?.running) return false;
    const found = result(idOf(status));
    return found === undefined ? probe === undefined : found === 'success';
  };
  const started = passed(container?.startupProbe, startup);
  return { ...status, started, ...(started ? { ready: passed(container?.readinessProbe, readiness) } : {}) };
}

/** An init container is ready once it has succeeded, a sidecar as an app container is. */
export function initReady(pod: Pick<Pod, 'spec'>, status: ContainerStatus, findings: ProbeFindings): ContainerStatus {
  const init = pod.spec.initContainers?.find(({ name }) => name === status.name);
  if (init && isSidecar(init)) return startedAndReady(pod, { ...status, ready: false }, findings);
  return { ...status, ready: status.state?.terminated?.exitCode === 0 };
}

/** Status has "docker://ID". */
function idOf({ containerID = '' }: ContainerStatus): ContainerId {
  return containerID.replace(/^[^:/]*:\/\//, '') as ContainerId;
}
