import { deadlineLeftMs, isTerminalPhase } from '../model/pod-predicates.ts';
import { newestFirst } from '../model/newest-first.ts';
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../model/pod.ts';
import { podQosClass } from '../model/qos.ts';
import { formatTime } from '../model/time.ts';
import type { ObservedPod } from '../ports/container-runtime.ts';
import { containerStatuses, type ContainerStatusInput, type StartError } from './container-statuses.ts';
import { containersReadyCondition, kubeletConditions, podInitializedCondition, podReadyCondition } from './pod-conditions.ts';
import { podPhase } from './pod-phase.ts';
import { initReady, type ProbeFindings, startedAndReady } from './started-and-ready.ts';

/** With what the probes found: a container with a startup probe has started, one with a readiness probe is ready, once they say so. */
export interface PodStatusFacts extends ProbeFindings {
  /** The status told before; undefined: the one that came with the pod. */
  readonly previous: PodStatus | undefined;
  readonly startErrors: ReadonlyMap<string, StartError>;
  /** The node's addresses, at most one a family, primary first; empty when it has none to tell. */
  readonly hostIPs: readonly string[];
  readonly runtimeName: string;
  /** Nothing of the pod is started any more. */
  readonly ending?: boolean;
  /** A container of the pod, of whatever kind, runs still: no end is told before its own (mergePodStatus in pkg/kubelet/status, as of 1.22). */
  readonly running?: boolean;
  /** When the pod began: status shows it. */
  readonly startTimeMs?: number | undefined;
  /** How long ago the pod began, which activeDeadlineSeconds limits: on a clock whose date nobody sets. */
  readonly ageMs?: number | undefined;
}

/** The pod's status as the API shows it, but for what the status manager adds: times of transitions, the start time. generateAPIPodStatus in pkg/kubelet. */
export function generatePodStatus(pod: Pod, observed: Pick<ObservedPod, 'containers' | 'sandboxes'>, facts: PodStatusFacts): PodStatus {
  const previous = facts.previous ?? pod.status;
  const containers = [...observed.containers].sort(newestFirst);
  const { startErrors, runtimeName } = facts;
  const input: Omit<ContainerStatusInput, 'previous'> = { pod, containers, startErrors, runtimeName };
  const appStatuses = containerStatuses({ ...input, previous: previous?.containerStatuses ?? [] }, 'app');
  const initStatuses = containerStatuses({ ...input, previous: previous?.initContainerStatuses ?? [] }, 'init');
  const ephemeralStatuses = containerStatuses({ ...input, previous: previous?.ephemeralContainerStatuses ?? [] }, 'ephemeral');
  const foreign = (pod.status?.conditions ?? []).filter(({ type }) => !kubeletConditions.has(type));
  const common: PodStatus = {
    qosClass: podQosClass(pod),
    ...addresses(ipsOf(observed)),
    ...startTime(facts),
    // Older API servers give pods no generation.
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    ...(ephemeralStatuses.length > 0 ? { ephemeralContainerStatuses: ephemeralStatuses } : {}),
  };

  const leftMs = deadlineLeftMs(pod, facts.ageMs);
  if (leftMs !== undefined && leftMs <= 0 && !facts.running) {
    return withContainers({ ...common, phase: 'Failed', ...deadlineExceeded }, appStatuses, initStatuses, foreign);
  }

  const { spec } = pod;
  // A pod does not come back from its end, whatever the engine says.
  const ended = [pod.status?.phase, previous?.phase].find(isTerminalPhase);
  const now = podPhase(spec, [...appStatuses, ...initStatuses], facts.ending);
  const phase = ended ?? (facts.running && isTerminalPhase(now) ? (previous?.phase ?? 'Pending') : now);
  const apps = appStatuses.map((status) => startedAndReady(pod, status, facts));
  const inits = initStatuses.map((status) => initReady(pod, status, facts));
  const initialized = podInitializedCondition(spec, inits, phase, appStatuses.some(hasRun));
  const conditions: readonly PodCondition[] = [
    ...foreign,
    initialized,
    podReadyCondition(spec, [...foreign, initialized], apps, phase, inits),
    containersReadyCondition(spec, apps, phase, inits),
    { type: 'PodScheduled', status: 'True' },
  ];
  return withContainers({ ...common, phase, ...hostAddresses(pod, common, facts.hostIPs) }, apps, inits, conditions);
}

/**
 * The pod without containers that were created and never started, as a crash between the two leaves them. The kubelet of 1.20 shows such a
 * container as ended with code 0, which with restart policy Never would end the pod before it ran; today's shows it waiting, and so do we.
 */
export function withoutUnstarted<T extends Pick<ObservedPod, 'containers'>>(observed: T): T {
  return { ...observed, containers: observed.containers.filter(({ state }) => state.phase !== 'created') };
}

/** pkg/kubelet/active_deadline.go */
const deadlineExceeded = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' };

function withContainers(
  status: PodStatus,
  apps: readonly ContainerStatus[],
  inits: readonly ContainerStatus[],
  conditions: readonly PodCondition[],
): PodStatus {
  return {
    ...status,
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(apps.length > 0 ? { containerStatuses: apps } : {}),
    ...(inits.length > 0 ? { initContainerStatuses: inits } : {}),
  };
}

function startTime({ startTimeMs }: PodStatusFacts): Pick<PodStatus, 'startTime'> {
  return startTimeMs === undefined ? {} : { startTime: formatTime(startTimeMs) };
}

/** Only the sandbox in use has addresses. */
function ipsOf({ sandboxes }: Pick<ObservedPod, 'sandboxes'>): readonly string[] {
  const newest = sandboxes[0];
  return newest?.ready ? newest.ips : [];
}

function addresses(ips: readonly string[]): Pick<PodStatus, 'podIP' | 'podIPs'> {
  const [podIP] = ips;
  return podIP === undefined ? {} : { podIP, podIPs: ips.map((ip) => ({ ip })) };
}

function hostAddresses(pod: Pod, { podIP }: PodStatus, hostIPs: readonly string[]): PodStatus {
  const [hostIP] = hostIPs;
  if (hostIP === undefined) return {};
  return { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })), ...(pod.spec.hostNetwork && podIP === undefined ? addresses(hostIPs) : {}) };
}

function hasRun({ state }: ContainerStatus): boolean {
  return state?.running !== undefined || state?.terminated !== undefined;
}
