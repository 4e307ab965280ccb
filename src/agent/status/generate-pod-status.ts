import { isIP } from 'node:net';
import { goIp } from '../../model/go-ip.ts';
import { deadlineLeftMs, isTerminalPhase } from '../../model/pod-predicates.ts';
import { newestFirst } from '../../model/newest-first.ts';
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../../model/pod.ts';
import { podRequests } from '../../model/pod-resources.ts';
import { podQosClass } from '../../model/qos.ts';
import type { StartFailure } from '../../model/start-failure.ts';
import { formatTime } from '../../model/time.ts';
import type { ContainerId, ObservedPod } from '../../ports/container-runtime.ts';
import type { PodEnd } from '../../ports/pod-ends.ts';
import type { PodCgroup, ResourceHealthByContainer } from '../../ports/pod-participant.ts';
import { podResources } from './actual-resources.ts';
import { allContainersRestart, allContainersRestartingCondition } from './all-containers-restart.ts';
import { type ContainerKind, containerStatuses } from './container-statuses.ts';
import {
  containersReadyCondition,
  kubeletConditions,
  podInitializedCondition,
  podReadyCondition,
  terminationByKubelet,
} from '../../model/pod-conditions.ts';
import { podPhase } from './pod-phase.ts';
import { initReady, type ProbeFindings, startedAndReady } from '../../model/started-and-ready.ts';

/** With what the probes found: a container with a startup probe has started, one with a readiness probe is ready, once they say so. */
export interface PodStatusFacts extends ProbeFindings {
  /** The status reported before; undefined: the one that came with the pod. */
  readonly previous: PodStatus | undefined;
  readonly startErrors: ReadonlyMap<string, StartFailure>;
  /** The node's addresses, at most one a family, primary first; empty when it has none to tell. */
  readonly hostIPs: readonly string[];
  readonly runtimeName: string;
  /** Nothing of the pod is started any more. */
  readonly ending?: boolean;
  /** The node ends the pod for reasons of its own. */
  readonly end?: PodEnd | undefined;
  /** A container of the pod, of whatever kind, runs still: no end is reported before its own (mergePodStatus in pkg/kubelet/status, as of 1.22). */
  readonly running?: boolean;
  /** When the pod began: status shows it. */
  readonly startTimeMs?: number | undefined;
  /** Whether the pod's sandbox can hold its containers; undefined: that is not reported. */
  readonly readyToStart?: boolean | undefined;
  /** The pod's addresses; undefined: those of the sandbox in use. */
  readonly podIPs?: readonly string[] | undefined;
  /** PodResizePending and PodResizeInProgress, as they are. */
  readonly resizeConditions?: readonly PodCondition[] | undefined;
  /** Undefined: resources are not reported. */
  readonly resources?: { readonly podCgroup: PodCgroup | undefined } | undefined;
  /** How the devices of its containers do, of each who knows of some: by container. */
  readonly resourceHealth?: readonly ResourceHealthByContainer[] | undefined;
  /** Whether the container runs since before this agent began: its probes did not see the start. Absent: none does. */
  readonly ranBefore?: (id: ContainerId) => boolean;
  /** Whether the engine makes a mount read-only with all that is below it. */
  readonly recursiveReadOnly?: boolean | undefined;
  /** How long ago the pod began, which activeDeadlineSeconds limits: on a clock that cannot be set. */
  readonly ageMs?: number | undefined;
}

const none = (): boolean => false;

/** The pod's status as the API shows it, but for what the status manager adds: times of transitions, the start time. generateAPIPodStatus in pkg/kubelet. */
export function generatePodStatus(
  pod: Pod,
  observed: Pick<ObservedPod, 'containers' | 'sandboxes'> & Partial<Restarting>,
  facts: PodStatusFacts,
): PodStatus {
  const { spec } = pod;
  const previous = facts.previous ?? pod.status;
  const containers = [...observed.containers].sort(newestFirst);
  const podRestarting = allContainersRestart(pod, { containers }, previous);
  const statusesOf = (kind: ContainerKind, reported: readonly ContainerStatus[] = []): readonly ContainerStatus[] =>
    containerStatuses(
      {
        pod,
        containers,
        previous: reported,
        startErrors: facts.startErrors,
        runtimeName: facts.runtimeName,
        podRestarting,
        keepsStarted: facts.ranBefore ?? none,
        resourceHealth: facts.resourceHealth ?? [],
        tellsResources: facts.resources !== undefined,
        recursiveReadOnly: facts.recursiveReadOnly ?? false,
      },
      kind,
    );
  const appStatuses = statusesOf('app', previous?.containerStatuses);
  const initStatuses = statusesOf('init', previous?.initContainerStatuses);
  const ephemeralStatuses = statusesOf('ephemeral', previous?.ephemeralContainerStatuses);

  // A pod does not come back from its end, whatever the engine says.
  const ended = [pod.status?.phase, previous?.phase].find(isTerminalPhase);
  const restarting = observed.restarting;
  const now = podPhase(pod, [...appStatuses, ...initStatuses], { ending: facts.ending, initialized: hasBegun(pod, observed), restarting });
  const byContainers = ended ?? (facts.running && isTerminalPhase(now) ? (previous?.phase ?? 'Pending') : now);
  const leftMs = deadlineLeftMs(pod, facts.ageMs);
  const isLate = leftMs !== undefined && leftMs <= 0;
  const cause = facts.end ?? (isLate ? deadlineExceeded : undefined);
  const isOver = cause !== undefined && !facts.running;
  const phase = isOver ? (ended ?? 'Failed') : byContainers;

  const wasTrue = (type: string, { conditions = [] }: PodStatus = {}): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === 'True');
  const kept = { ranBefore: facts.ranBefore ?? none, podWasReady: wasTrue('Ready', pod.status) };
  const apps = appStatuses.map((status) => startedAndReady(pod, status, facts, kept));
  const inits = initStatuses.map((status) => initReady(pod, status, facts, kept));
  const foreign = (pod.status?.conditions ?? []).filter(({ type }) => !kubeletConditions.has(type));
  const { generation } = pod.metadata;
  const seen = generation === undefined ? {} : { observedGeneration: generation };
  const isDisruption = ({ type }: PodCondition): boolean => type === terminationByKubelet.type;
  const disruption =
    facts.end && facts.end.condition !== false && isOver && ended === undefined
      ? { ...terminationByKubelet, message: facts.end.condition ?? facts.end.message, ...seen }
      : previous?.conditions?.find(isDisruption);
  const others = [
    ...foreign.map((condition) => (isDisruption(condition) && disruption ? disruption : condition)),
    ...(facts.ending ? [] : (facts.resizeConditions ?? [])),
    ...(disruption && !foreign.some(isDisruption) ? [disruption] : []),
  ];
  const initialized = podInitializedCondition(spec, inits, phase, appStatuses.some(hasRun), wasTrue('Initialized', previous));
  const ready = podReadyCondition(spec, [...others, initialized], apps, phase, inits);
  const ownConditions: readonly PodCondition[] = [
    ...(facts.readyToStart === undefined ? [] : [readyToStartCondition(facts.readyToStart)]),
    initialized,
    ready,
    containersReadyCondition(spec, apps, phase, inits),
    { type: 'PodScheduled', status: 'True' },
  ];
  const conditions = [
    ...others,
    ...ownConditions.map((condition) => ({ ...condition, ...seen })),
    ...allContainersRestartingCondition(pod, { containers }, podRestarting, phase),
  ];
  const own = addresses(inOrder(facts.podIPs ?? ipsOf(observed)));
  return {
    phase,
    ...(isOver ? { reason: cause.reason, message: cause.message } : phase === previous?.phase ? why(previous, pod.status) : {}),
    qosClass: pod.status?.qosClass || podQosClass(pod),
    ...own,
    ...hostAddresses(pod, own, facts.hostIPs),
    ...startTime(facts),
    // Older API servers give pods no generation.
    ...seen,
    ...(facts.resources && resourcesStatus(pod, facts.resources.podCgroup, previous)),
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(apps.length > 0 ? { containerStatuses: apps } : {}),
    ...(inits.length > 0 ? { initContainerStatuses: inits } : {}),
    ...(ephemeralStatuses.length > 0 ? { ephemeralContainerStatuses: ephemeralStatuses } : {}),
  };
}

function resourcesStatus(pod: Pod, cgroup: PodCgroup | undefined, reported: PodStatus | undefined): PodStatus {
  const requested = podRequests(pod);
  const amounts = [...requested].map(([name, amount]) => [name, amount.canonical()] as const);
  return {
    resources: podResources(pod, requested, cgroup, reported),
    ...(amounts.length > 0 && { allocatedResources: Object.fromEntries(amounts) }),
  };
}

const readyToStartCondition = (ready: boolean): PodCondition => ({ type: 'PodReadyToStartContainers', status: ready ? 'True' : 'False' });

/** What was said of a phase stays with it. */
function why(previous: PodStatus, api: PodStatus | undefined): Pick<PodStatus, 'reason' | 'message'> {
  const reason = previous.reason || api?.reason;
  const message = previous.message || api?.message;
  return { ...(reason && { reason }), ...(message && { message }) };
}

/**
 * The pod without containers that were created and never started, as a crash between the two leaves them. The kubelet of 1.20 shows such a
 * container as ended with code 0, which with restart policy Never would end the pod before it ran; today's shows it waiting, and so do we.
 */
export function withoutUnstarted<T extends Pick<ObservedPod, 'containers'>>(observed: T): T & Restarting {
  const stopped = observed.containers.filter(({ state }) => state.phase === 'created' && state.restarts);
  const restarting = new Set(stopped.map(({ name }) => name));
  return { ...observed, containers: observed.containers.filter(({ state }) => state.phase !== 'created'), restarting };
}

/** Containers that were stopped to be started again. */
interface Restarting {
  readonly restarting: ReadonlySet<string>;
}

/** pkg/kubelet/active_deadline.go */
const deadlineExceeded = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' };

function startTime({ startTimeMs }: PodStatusFacts): Pick<PodStatus, 'startTime'> {
  return startTimeMs === undefined ? {} : { startTime: formatTime(startTimeMs) };
}

/** Only the sandbox in use has addresses. */
function ipsOf({ sandboxes }: Pick<ObservedPod, 'sandboxes'>): readonly string[] {
  const newest = sandboxes[0];
  return newest?.ready ? newest.ips : [];
}

/** At most one of each family, the older family first, in their shortest form. */
function inOrder(ips: readonly string[]): readonly string[] {
  return [4, 6].flatMap((family) => ips.find((ip) => isIP(ip) === family) ?? []).map((ip) => goIp(ip) ?? ip);
}

function addresses(ips: readonly string[]): Pick<PodStatus, 'podIP' | 'podIPs'> {
  const [podIP] = ips;
  return podIP === undefined ? {} : { podIP, podIPs: ips.map((ip) => ({ ip })) };
}

/** A pod on the node's network has its addresses, and a second one as soon as the node has. */
function hostAddresses(pod: Pod, { podIPs = [] }: PodStatus, hostIPs: readonly string[]): PodStatus {
  const [hostIP, second] = hostIPs;
  if (hostIP === undefined) return {};
  const host = { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) };
  if (!pod.spec.hostNetwork) return host;
  const own = podIPs.length > 0 ? podIPs.map(({ ip }) => ip) : [hostIP];
  const lacks = own.length === 1 && second !== undefined && isIP(own[0] ?? '') !== isIP(second);
  return { ...host, ...addresses(lacks ? [...own, second] : own) };
}

/** Whether an app container was made in the sandbox in use (HasAnyActiveRegularContainerStarted in pkg/kubelet/container). */
function hasBegun({ spec }: Pod, { sandboxes, containers }: Pick<ObservedPod, 'containers' | 'sandboxes'>): boolean {
  const [sandbox] = sandboxes;
  if (!sandbox?.ready) return false;
  return containers.some(
    ({ name, sandboxId, createdAtMs }) =>
      spec.containers.some((container) => container.name === name) &&
      (sandboxId === undefined ? createdAtMs >= sandbox.createdAtMs : sandboxId === sandbox.id),
  );
}

function hasRun({ state }: ContainerStatus): boolean {
  return state?.running !== undefined || state?.terminated !== undefined;
}
