import type { Clock } from '../base/clock.ts';
import { rejectPod, wasRejected } from '../model/pod-admission.ts';
import type { Pod } from '../model/pod.ts';
import type { StartFailure } from '../model/start-failure.ts';
import { formatTime } from '../model/time.ts';
import type { ContainerProbes } from '../ports/container-probes.ts';
import type { ObservedPod } from '../ports/container-runtime.ts';
import type { Engine } from '../ports/engine.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { PodEnds } from '../ports/pod-ends.ts';
import type { DesiredPod } from '../ports/pod-store.ts';
import type { PodAdmissions } from './reconcile/pod-admissions.ts';
import { deadlineLeftMs, isTerminalPhase } from '../model/pod-predicates.ts';
import type { PodParticipants } from './reconcile/pod-participants.ts';
import type { PodResizes } from './reconcile/pod-resizes.ts';
import type { PodMemory } from './reconcile/pod-memory.ts';
import type { RestartBackoff } from './reconcile/restart-backoff.ts';
import { sandboxChanged } from './reconcile/sandbox-changed.ts';
import { generatePodStatus, withoutUnstarted } from './status/generate-pod-status.ts';
import type { PodStatusManager } from './status/status-manager.ts';

export interface ShowStatusDeps {
  readonly clock: Clock;
  readonly statuses: Pick<PodStatusManager, 'get' | 'set'>;
  readonly events: EventRecorder;
  readonly probes: ContainerProbes;
  readonly memory: PodMemory;
  readonly backoff: RestartBackoff;
  readonly admissions: Pick<PodAdmissions, 'refusalOf' | 'isOpen'>;
  readonly participants: Pick<PodParticipants, 'cgroup' | 'resourceHealth'>;
  readonly resizes: Pick<PodResizes, 'look' | 'conditionsOf' | 'freed'>;
  /** Whether who reads the pod's status knows of resources in it: older API servers do not, and would drop them each time. */
  readonly tellsResources: (pod: Pod) => boolean;
  /** Whether the health of devices is reported. */
  readonly tellsHealth: boolean;
  readonly ends: Pick<PodEnds, 'of'>;
  /** Whether statuses say of a pod that its sandbox is there (PodReadyToStartContainersCondition). */
  readonly tellsReadyToStart: boolean;
  /** The node's addresses, primary first. */
  readonly hostIps: readonly string[];
  readonly engine: Pick<Engine, 'name' | 'lastFeatures'>;
}

/** Shows what is known of a pod: that it was refused for good, or how it was observed and probed. */
export function showStatus(deps: ShowStatusDeps): (desired: DesiredPod, observed: ObservedPod) => void {
  const {
    clock,
    statuses,
    events,
    probes,
    memory,
    backoff,
    admissions,
    participants,
    resizes,
    tellsResources,
    tellsHealth,
    ends,
    hostIps,
    engine,
  } = deps;

  /** A container that a crash loop holds back shows that, not how its last start failed. */
  const startErrors = (pod: Pod, observed: ObservedPod): ReadonlyMap<string, StartFailure> => {
    const errors = new Map(memory.startFailures(pod.metadata.uid));
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      if (backoff.hold(pod, container, observed) === undefined) continue;
      errors.set(container.name, { reason: 'CrashLoopBackOff', message: backoff.message(pod, container) });
    }
    return errors;
  };

  return ({ pod }, observed) => {
    const { uid } = pod.metadata;
    const previous = statuses.get(uid);
    const shown = previous ?? pod.status;
    if (shown && wasRejected(shown)) return statuses.set(pod, shown);
    const refusal = admissions.refusalOf(uid);
    if (refusal) return statuses.set(pod, rejectPod(pod, refusal));
    const began = memory.began(uid, clock);
    const ageMs = clock.monotonicMs() - began.monotonicMs;
    const ending = pod.metadata.deletionTimestamp !== undefined;
    const isOver = isTerminalPhase(shown?.phase);
    const looks = !ending && !isOver && !admissions.isOpen(pod);
    const errors = startErrors(pod, observed);
    const end = ends.of(uid);
    const recursiveReadOnly = engine.lastFeatures()?.handlers[0]?.recursiveReadOnly;
    const resources = tellsResources(pod) ? { podCgroup: participants.cgroup(uid) } : undefined;
    const isLate = (deadlineLeftMs(pod, ageMs) ?? 1) <= 0;
    const cgroup = resources?.podCgroup;
    const madeOf: unknown[] = [
      pod,
      observed,
      previous,
      looks,
      end,
      recursiveReadOnly,
      resources !== undefined,
      cgroup,
      began.dateMs,
      isLate,
    ];
    const health = tellsHealth ? participants.resourceHealth(uid) : [];
    madeOf.push(...health);
    for (const { id } of observed.containers) madeOf.push(probes.startup(id), probes.readiness(id));
    // Nearly all looks are at a pod that is as it was: what follows from that is shown already.
    const isAtRest = errors.size === 0 && resizes.conditionsOf(uid).length === 0;
    if (isAtRest && memory.isShownFrom(uid, madeOf)) return;
    probes.follow(pod);
    const seen = looks ? resizes.look(pod, observed) : observed;
    const status = generatePodStatus(pod, withoutUnstarted(seen), {
      previous,
      startErrors: errors,
      startup: (id) => probes.startup(id),
      readiness: (id) => probes.readiness(id),
      ranBefore: (id) => memory.ranBefore(uid, id),
      readyToStart: deps.tellsReadyToStart ? sandboxChanged(pod, observed).because === undefined : undefined,
      hostIPs: hostIps,
      // As container ids begin: "docker".
      runtimeName: engine.name,
      recursiveReadOnly,
      ending,
      resizeConditions: isOver ? [] : resizes.conditionsOf(uid),
      resources,
      resourceHealth: health,
      end,
      running: observed.containers.some(({ state }) => state.phase === 'running'),
      startTimeMs: began.dateMs,
      ageMs,
    });
    if (status.reason === 'DeadlineExceeded' && shown?.reason !== status.reason)
      events.record(pod, 'Normal', status.reason, status.message ?? '');
    probes.reported(uid, status);
    statuses.set(pod, { ...status, startTime: formatTime(began.dateMs) });
    if (!isOver && isTerminalPhase(status.phase)) resizes.freed('pod_terminated');
    if (isAtRest) memory.noteShown(uid, madeOf);
  };
}
