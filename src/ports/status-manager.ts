import type { Pod, PodStatus, PodUid } from '../model/pod.ts';

/** What the kubelet last believed about each pod. Neither waits nor throws; sending is another keyed queue's job. */
export interface StatusManager {
  /** Equal statuses are dropped, newer ones overtake older ones. */
  set(pod: Pod, status: PodStatus): void;
  get(uid: PodUid): PodStatus | undefined;
  forget(uid: PodUid): void;
}
