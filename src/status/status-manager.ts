import { Subject, type Observable } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { isSidecar } from '../model/pod-predicates.ts';
import { type ContainerStatus, type Pod, type PodCondition, type PodStatus, type PodUid, showPod } from '../model/pod.ts';
import { formatTime } from '../model/time.ts';
import type { StatusManager } from '../ports/status-manager.ts';
import { normalizePodStatus } from './normalize-pod-status.ts';
import { kubeletConditions } from './pod-conditions.ts';
import { samePodStatus } from './same-pod-status.ts';

export interface StatusChange {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** What was told before; undefined: nothing since the agent started. */
  readonly previous: PodStatus | undefined;
}

export interface PodStatusManagerDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** What was told of a pod before this agent started, where its own object does not know: a static pod's mirror does. */
  readonly apiStatusOf?: (pod: Pod) => PodStatus | undefined;
}

/**
 * Keeps the last status of each pod and tells who listens when it says something new (updateStatusInternal in pkg/kubelet/status).
 *
 * INVARIANTS
 * - A condition's lastTransitionTime moves only with its status; a pod's startTime never moves.
 * - A pod that has lost its network keeps the addresses that it had (pkg/kubelet/pleg getPodIPs).
 * - A container that has ended for good by the restart policy does not come back: such a status is refused.
 */
export class PodStatusManager implements StatusManager {
  readonly changes: Observable<StatusChange>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;
  readonly #apiStatusOf: (pod: Pod) => PodStatus | undefined;
  readonly #changes = new Subject<StatusChange>();
  readonly #statuses = new Map<PodUid, PodStatus>();

  constructor({ clock, log, apiStatusOf = () => undefined }: PodStatusManagerDeps) {
    this.#clock = clock;
    this.#log = log;
    this.#apiStatusOf = apiStatusOf;
    this.changes = this.#changes.asObservable();
  }

  set(pod: Pod, status: PodStatus): void {
    const { uid } = pod.metadata;
    const previous = this.#statuses.get(uid);
    const old = previous ?? this.#apiStatusOf(pod) ?? pod.status ?? {};
    const revived = revivedContainer(pod, old, status);
    if (revived !== undefined) {
      this.#log.error('status refused: a container that ended for good cannot come back', { pod: showPod(pod), container: revived });
      return;
    }
    const now = formatTime(this.#clock.now());
    const told = normalizePodStatus(pod, {
      ...addressesOf(old),
      ...status,
      ...(status.conditions ? { conditions: status.conditions.map((condition) => withTransitionTime(condition, old, now)) } : {}),
      startTime: old.startTime ?? status.startTime ?? now,
    });
    if (previous && samePodStatus(previous, told)) return;
    this.#statuses.set(uid, told);
    this.#changes.next({ pod, status: told, previous });
  }

  get(uid: PodUid): PodStatus | undefined {
    return this.#statuses.get(uid);
  }

  /**
   * What was told of the pod before this agent started has become known only now: conditions that are as they were have been so since
   * then, and its addresses are those of a pod that has no others. Nobody is told.
   */
  adopt(uid: PodUid, before: PodStatus): void {
    const status = this.#statuses.get(uid);
    if (!status) return;
    const conditions = status.conditions?.map((condition) => {
      const { lastTransitionTime } = condition;
      return lastTransitionTime === undefined ? condition : withTransitionTime(condition, before, lastTransitionTime);
    });
    this.#statuses.set(uid, { ...addressesOf(before), ...status, ...(conditions && { conditions }) });
  }

  forget(uid: PodUid): void {
    this.#statuses.delete(uid);
  }
}

function addressesOf({ podIP, podIPs, hostIP, hostIPs }: PodStatus): PodStatus {
  return {
    ...(podIP !== undefined && podIPs !== undefined ? { podIP, podIPs } : {}),
    ...(hostIP === undefined ? {} : { hostIP }),
    ...(hostIPs === undefined ? {} : { hostIPs }),
  };
}

function withTransitionTime(condition: PodCondition, old: PodStatus, now: string): PodCondition {
  if (!kubeletConditions.has(condition.type)) return condition;
  const before = old.conditions?.find(({ type }) => type === condition.type);
  return { ...condition, lastTransitionTime: (before?.status === condition.status ? before.lastTransitionTime : undefined) ?? now };
}

/** checkContainerStateTransition; sidecars may always come back. */
function revivedContainer(pod: Pod, old: PodStatus, status: PodStatus): string | undefined {
  const { restartPolicy, initContainers = [] } = pod.spec;
  if (restartPolicy === undefined || restartPolicy === 'Always') return undefined;
  const sidecars = new Set(initContainers.filter(isSidecar).map(({ name }) => name));
  const revived = (before: readonly ContainerStatus[] = [], after: readonly ContainerStatus[] = []): ContainerStatus | undefined =>
    before.find(({ name, state }) => {
      if (!state?.terminated || sidecars.has(name)) return false;
      if (state.terminated.exitCode !== 0 && restartPolicy === 'OnFailure') return false;
      return after.some((one) => one.name === name && !one.state?.terminated);
    });
  return (revived(old.containerStatuses, status.containerStatuses) ?? revived(old.initContainerStatuses, status.initContainerStatuses))
    ?.name;
}
