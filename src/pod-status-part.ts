import type { Clock } from './base/clock.ts';
import { type PodRefusal, rejectPod, wasRejected } from './model/pod-admission.ts';
import { isTerminalPhase } from './model/pod-predicates.ts';
import type { Pod, PodStatus } from './model/pod.ts';
import { formatTime } from './model/time.ts';
import type { ObservedPod } from './ports/container-runtime.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { DesiredPod } from './ports/pod-store.ts';
import type { StatusManager } from './ports/status-manager.ts';
import type { ProbeManager } from './probes/probe-manager.ts';
import type { PodMemory, StartFailure } from './reconcile/pod-memory.ts';
import type { RestartBackoff } from './reconcile/restart-backoff.ts';
import { generatePodStatus, withoutUnstarted } from './status/generate-pod-status.ts';

export interface PodStatusPartDeps {
  readonly clock: Clock;
  readonly statuses: Pick<StatusManager, 'get'>;
  readonly events: EventRecorder;
  readonly probes: Pick<ProbeManager, 'follow' | 'startup' | 'readiness' | 'told'>;
  readonly memory: PodMemory;
  readonly backoff: RestartBackoff;
  /** The node's addresses, primary first. */
  readonly hostIps: readonly string[];
  /** Asked once about each new pod: why it may not run here; undefined: it may. */
  readonly admit?: ((pod: Pod) => PodRefusal | undefined) | undefined;
}

/** What is told of a pod: refused for good, or as it was observed and probed. A pod that is told of for the first time is admitted here. */
export function podStatusPart(deps: PodStatusPartDeps): (desired: DesiredPod, observed: ObservedPod) => PodStatus {
  const { clock, statuses, events, probes, memory, backoff, hostIps } = deps;

  /** Seen for the first time, and nothing of it is here: what runs already has been admitted once. */
  const isNew = ({ metadata, status }: Pod, { containers, sandboxes }: ObservedPod): boolean =>
    statuses.get(metadata.uid) === undefined &&
    containers.length === 0 &&
    sandboxes.length === 0 &&
    metadata.deletionTimestamp === undefined &&
    !isTerminalPhase(status?.phase);

  /** A container that a crash loop holds back shows that, not how its last start failed. */
  const startErrors = (pod: Pod, observed: ObservedPod): ReadonlyMap<string, StartFailure> => {
    const errors = new Map(memory.startFailures(pod.metadata.uid));
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      if (backoff.notBeforeMs(pod, container, observed) === undefined) continue;
      errors.set(container.name, { reason: 'CrashLoopBackOff', message: backoff.message(pod, container) });
    }
    return errors;
  };

  return ({ pod }, observed) => {
    const previous = statuses.get(pod.metadata.uid);
    const told = previous ?? pod.status;
    if (told && wasRejected(told)) return told;
    const refusal = isNew(pod, observed) ? deps.admit?.(pod) : undefined;
    if (refusal) {
      events.record(pod, 'Warning', refusal.reason, refusal.message);
      return rejectPod(pod, refusal);
    }
    probes.follow(pod);
    const startTimeMs = memory.beganAtMs(observed, clock.now());
    const status = generatePodStatus(pod, withoutUnstarted(observed), {
      nowMs: clock.now(),
      previous,
      startErrors: startErrors(pod, observed),
      startup: (id) => probes.startup(id),
      readiness: (id) => probes.readiness(id),
      hostIPs: hostIps,
      runtimeName: 'docker',
      ending: pod.metadata.deletionTimestamp !== undefined,
      running: observed.containers.some(({ state }) => state.phase === 'running'),
      startTimeMs,
    });
    if (status.reason === 'DeadlineExceeded' && told?.reason !== status.reason)
      events.record(pod, 'Normal', status.reason, status.message ?? '');
    probes.told(pod.metadata.uid, status);
    return { ...status, startTime: formatTime(startTimeMs) };
  };
}
