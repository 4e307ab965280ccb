import { type ContainerId, containerIdOf } from './container-id.ts';
import { isSidecar } from './pod-predicates.ts';
import type { ContainerStatus, Pod } from './pod.ts';
import type { ProbeResult } from './probe-result.ts';

/** What the probes last found. */
export interface ProbeFindings {
  readonly startup: (id: ContainerId) => ProbeResult | undefined;
  readonly readiness: (id: ContainerId) => ProbeResult | undefined;
}

/** What is kept of containers that run since before this agent began: its probes have said nothing yet. */
export interface KeptReadiness {
  /** Whether the container runs since before this agent. */
  readonly ranBefore: (id: ContainerId) => boolean;
  /** Whether the pod was Ready when its status was reported last. */
  readonly podWasReady: boolean;
}

/** UpdatePodStatus in pkg/kubelet/prober: what has no probe has started and is ready as soon as it runs. */
export function startedAndReady(
  { spec }: Pick<Pod, 'spec'>,
  status: ContainerStatus,
  { startup, readiness }: ProbeFindings,
  kept?: KeptReadiness,
): ContainerStatus {
  const { startupProbe, readinessProbe } =
    [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === status.name) ?? {};
  const running = status.state?.running;
  if (!running) return { ...status, started: false };
  const id = containerIdOf(status.containerID ?? '');
  const probed = startup(id);
  const started = probed === undefined ? status.started === true || startupProbe === undefined : probed === 'success';
  if (!started) return { ...status, started };
  const found = readiness(id);
  if (found === 'success') return { ...status, started, ready: true };
  if (kept?.ranBefore(id) && readinessProbe !== undefined) return { ...status, started, ready: kept.podWasReady && found === undefined };
  return { ...status, started, ready: readinessProbe === undefined };
}

/** An init container is ready once it has succeeded, a sidecar as an app container is. */
export function initReady(pod: Pick<Pod, 'spec'>, status: ContainerStatus, findings: ProbeFindings, kept?: KeptReadiness): ContainerStatus {
  const init = pod.spec.initContainers?.find(({ name }) => name === status.name);
  const probed = startedAndReady(pod, status, findings, kept);
  return init && isSidecar(init) ? probed : { ...probed, ready: status.ready || status.state?.terminated?.exitCode === 0 };
}
