import type { Observable } from 'rxjs';
import type { Pod, PodStatus, PodUid } from '../model/pod.ts';

export interface StatusChange {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** What was shown before; undefined: nothing since the agent started. */
  readonly previous: PodStatus | undefined;
}

/** The last status of each pod, for those who read. */
export interface PodStatuses {
  get(uid: PodUid): PodStatus | undefined;
  /** What says something new. Hot. */
  readonly changes: Observable<StatusChange>;
  /** What the API server showed of a pod before this agent started, where that is known. */
  before(pod: Pod): PodStatus | undefined;
  /** What was shown of the pod before this agent started has become known only now. */
  adopt(uid: PodUid, before: PodStatus): void;
  /** A probe found something: containers of this status are started or ready by it. */
  amend(uid: PodUid, change: (pod: Pod, status: PodStatus) => PodStatus): void;
}
