import { Subject, type Observable } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { allContainers, isSidecar } from '../../model/pod-predicates.ts';
import { type ContainerStatus, type Pod, type PodCondition, type PodStatus, type PodUid, aboutPod } from '../../model/pod.ts';
import { formatTime } from '../../model/time.ts';
import type { PodStatuses, StatusChange } from '../../ports/pod-statuses.ts';
import { normalizePodStatus } from '../../model/normalize-pod-status.ts';
import { isKubeletCondition } from '../../model/pod-conditions.ts';
import { samePodStatus } from '../../model/same-pod-status.ts';
import { mayRestartAll, restartsAfter } from '../../model/should-restart-container.ts';

export interface PodStatusManagerDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** What was reported of a pod before this agent started, where its own object does not know: a static pod's mirror does. */
  readonly apiStatusOf: (pod: Pod) => PodStatus | undefined;
}

/**
 * Keeps the last status of each pod and tells who listens when it says something new (updateStatusInternal in pkg/kubelet/status).
 *
 * INVARIANTS
 * - A condition's lastTransitionTime moves only with its status; a pod's startTime never moves.
 * - A pod that has lost its network keeps the addresses that it had (pkg/kubelet/pleg getPodIPs).
 * - A container that has ended for good by the restart policy does not come back: such a status is refused.
 */
export class PodStatusManager implements PodStatuses {
  readonly changes: Observable<StatusChange>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;
  readonly #apiStatusOf: (pod: Pod) => PodStatus | undefined;
  readonly #changes = new Subject<StatusChange>();
  readonly #statuses = new Map<PodUid, { readonly pod: Pod; readonly status: PodStatus }>();

  constructor({ clock, log, apiStatusOf }: PodStatusManagerDeps) {
    this.#clock = clock;
    this.#log = log;
    this.#apiStatusOf = apiStatusOf;
    this.changes = this.#changes.asObservable();
  }

  set(pod: Pod, status: PodStatus): void {
    const { uid } = pod.metadata;
    const previous = this.get(uid);
    const old = previous ?? this.#apiStatusOf(pod) ?? pod.status ?? {};
    const revived = revivedContainer(pod, old, status);
    if (revived !== undefined) {
      this.#log.error('pod status refused: a container that ended for good cannot come back', { ...aboutPod(pod), container: revived });
      return;
    }
    const now = formatTime(this.#clock.now());
    const reported = normalizePodStatus(pod, {
      ...addressesOf(old),
      ...status,
      ...(status.conditions ? { conditions: status.conditions.map((condition) => withTransitionTime(condition, old, now)) } : {}),
      startTime: old.startTime ?? status.startTime ?? now,
    });
    const isNews = previous === undefined || !samePodStatus(previous, reported);
    this.#statuses.set(uid, { pod, status: isNews ? reported : previous });
    if (!isNews) return;
    this.#log.v(4, 'status changed', { ...aboutPod(pod), phase: reported.phase });
    this.#changes.next({ pod, status: reported, previous });
  }

  get(uid: PodUid): PodStatus | undefined {
    return this.#statuses.get(uid)?.status;
  }

  /**
   * What was reported of the pod before this agent started has become known only now: conditions that are as they were have been so since
   * then, and its addresses are those of a pod that has no others. `changes` does not have it.
   */
  adopt(uid: PodUid, before: PodStatus): void {
    const known = this.#statuses.get(uid);
    if (!known) return;
    const { pod, status } = known;
    const conditions = status.conditions?.map((condition) => {
      const { lastTransitionTime } = condition;
      return lastTransitionTime === undefined ? condition : withTransitionTime(condition, before, lastTransitionTime);
    });
    this.#statuses.set(uid, { pod, status: { ...addressesOf(before), ...status, ...(conditions && { conditions }) } });
  }

  before(pod: Pod): PodStatus | undefined {
    return pod.status ?? this.#apiStatusOf(pod);
  }

  amend(uid: PodUid, change: (pod: Pod, status: PodStatus) => PodStatus): void {
    const known = this.#statuses.get(uid);
    if (known) this.set(known.pod, change(known.pod, known.status));
  }

  /** Nothing of the pod is left. */
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
  if (!isKubeletCondition(condition)) return condition;
  const before = old.conditions?.find(({ type }) => type === condition.type);
  return { ...condition, lastTransitionTime: (before?.status === condition.status ? before.lastTransitionTime : undefined) ?? now };
}

/** checkContainerStateTransition; sidecars may always come back, and all may where the end of one restarts them all. */
function revivedContainer(pod: Pod, old: PodStatus, status: PodStatus): string | undefined {
  const { restartPolicy, initContainers = [] } = pod.spec;
  if (restartPolicy === undefined || restartPolicy === 'Always' || mayRestartAll(pod.spec)) return undefined;
  const sidecars = new Set(initContainers.filter(isSidecar).map(({ name }) => name));
  const revived = (before: readonly ContainerStatus[] = [], after: readonly ContainerStatus[] = []): ContainerStatus | undefined =>
    before.find(({ name, state }) => {
      if (!state?.terminated || sidecars.has(name)) return false;
      const container = allContainers(pod.spec).find((one) => one.name === name) ?? { name };
      if (restartsAfter(pod.spec, container, state.terminated.exitCode)) return false;
      return after.some((one) => one.name === name && !one.state?.terminated);
    });
  return (revived(old.containerStatuses, status.containerStatuses) ?? revived(old.initContainerStatuses, status.initContainerStatuses))
    ?.name;
}
