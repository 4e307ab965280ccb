import type { Clock } from './base/clock.ts';
import { rejectPod, wasRejected } from './model/pod-admission.ts';
import type { Pod, PodStatus } from './model/pod.ts';
import { formatTime } from './model/time.ts';
import type { ObservedPod } from './ports/container-runtime.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { PodAdmitHandler } from './ports/pod-admit-handler.ts';
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
  /** Undefined: every pod may run. */
  readonly admission?: Pick<PodAdmitHandler, 'admit'> | undefined;
}

/** What is told of a pod: refused for good, or as it was observed and probed. A pod of which nothing is here is admitted first. */
export function podStatusPart(deps: PodStatusPartDeps): (desired: DesiredPod, observed: ObservedPod) => PodStatus {
  const { clock, statuses, events, probes, memory, backoff, hostIps } = deps;

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
    const previous = statuses.get(pod.metadata.uid);
    const told = previous ?? pod.status;
    if (told && wasRejected(told)) return told;
    // Of what was admitted before, something may be here.
    const isHere = observed.containers.length > 0 || observed.sandboxes.length > 0;
    const refusal = isHere ? undefined : deps.admission?.admit(pod);
    if (refusal) {
      events.record(pod, 'Warning', refusal.reason, refusal.message);
      return rejectPod(pod, refusal);
    }
    probes.follow(pod);
    const began = memory.began(pod, observed, clock);
    const status = generatePodStatus(pod, withoutUnstarted(observed), {
      previous,
      startErrors: startErrors(pod, observed),
      startup: (id) => probes.startup(id),
      readiness: (id) => probes.readiness(id),
      hostIPs: hostIps,
      runtimeName: 'docker',
      ending: pod.metadata.deletionTimestamp !== undefined,
      running: observed.containers.some(({ state }) => state.phase === 'running'),
      startTimeMs: began.dateMs,
      ageMs: clock.monotonicMs() - began.monotonicMs,
    });
    if (status.reason === 'DeadlineExceeded' && told?.reason !== status.reason)
      events.record(pod, 'Normal', status.reason, status.message ?? '');
    probes.told(pod.metadata.uid, status);
    return { ...status, startTime: formatTime(began.dateMs) };
  };
}
