import { isTerminalPhase } from './pod-predicates.ts';
import type { Pod, PodStatus } from './pod.ts';
import { containersReadyCondition, podReadyCondition } from './pod-conditions.ts';
import { initReady, type ProbeFindings, startedAndReady } from './started-and-ready.ts';

/**
 * The status with what the probes have found since it was reported, and nothing else new: readiness waits for no step of the pod
 * (SetContainerReadiness and SetContainerStartup in pkg/kubelet/status).
 */
export function withProbeResults(pod: Pod, status: PodStatus, findings: ProbeFindings): PodStatus {
  if (isTerminalPhase(status.phase) || status.containerStatuses === undefined) return status;
  const { spec } = pod;
  const apps = status.containerStatuses.map((each) => startedAndReady(pod, each, findings));
  const inits = status.initContainerStatuses?.map((each) => initReady(pod, each, findings));
  const { generation } = pod.metadata;
  const seen = generation === undefined ? {} : { observedGeneration: generation };
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'Ready' && type !== 'ContainersReady');
  const latest = [
    podReadyCondition(spec, others, apps, status.phase, inits ?? []),
    containersReadyCondition(spec, apps, status.phase, inits ?? []),
  ];
  const conditions = (status.conditions ?? []).map((condition) => {
    const now = latest.find(({ type }) => type === condition.type);
    if (now === undefined) return condition;
    return now.status === condition.status ? { ...condition, ...now } : { ...now, ...seen };
  });
  return { ...status, conditions, containerStatuses: apps, ...(inits ? { initContainerStatuses: inits } : {}) };
}
