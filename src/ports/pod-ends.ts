import type { PodUid } from '../model/pod.ts';

export interface PodEnd {
  /** As status.reason shows it: "Evicted", "Preempting". */
  readonly reason: string;
  /** As status.message shows it. */
  readonly message: string;
  /** What condition DisruptionTarget says; undefined: the same; false: there is none, as of a pod that exceeded a limit of its own. */
  readonly condition?: string | false | undefined;
  /** Goes before the pod's own grace period, also below the minimum of 2 s; undefined: the pod's own. */
  readonly graceSeconds: number | undefined;
}

/** Ends pods for the node's own reasons: eviction, preemption, shutdown. */
export interface PodEnds {
  /**
   * The pod is stopped and Failed, mostly with condition DisruptionTarget: a pod of the API for good, also where the agent restarts before the API
   * was told; a static pod for as long as this agent runs, as it is the node's own and comes back with it. Of several ends the first gives
   * the reason, and the shortest grace period counts. Of a pod that is not here, or has ended already, nothing becomes.
   */
  end(uid: PodUid, end: PodEnd): void;
  of(uid: PodUid): PodEnd | undefined;
  /** A static pod that ended, or was refused, begins again once nothing is left of it: the node's own reasons do not hold any more. */
  startOver(uid: PodUid): void;
}
