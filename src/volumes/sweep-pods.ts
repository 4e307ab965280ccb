import type { PodUid } from '../model/pod.ts';

export interface Swept {
  readonly removed: readonly PodUid[];
  readonly failed: ReadonlyMap<PodUid, unknown>;
}

export interface SweptPods {
  readonly uids: readonly PodUid[];
  /** Must not forget a pod that runs, or that a source may still declare. */
  readonly isKnown: (uid: PodUid) => Promise<boolean>;
  readonly remove: (uid: PodUid) => Promise<void>;
  /** Runs it when nothing else is done about the pod. */
  readonly alone: (uid: PodUid, work: () => Promise<void>) => Promise<void>;
}

/** So many pods' leavings are removed at a time: one of a million files, or one whose unmounting waits, does not hold up the others. */
const SWEPT_AT_ONCE = 8;

/** Removes what is left of pods that are known no more. */
export async function sweepPods({ uids: all, isKnown, remove, alone }: SweptPods, signal: AbortSignal): Promise<Swept> {
  const removed: PodUid[] = [];
  const failed = new Map<PodUid, unknown>();
  const sweepOne = async (uid: PodUid): Promise<void> => {
    signal.throwIfAborted();
    if (await isKnown(uid)) return;
    signal.throwIfAborted();
    try {
      await remove(uid);
      removed.push(uid);
    } catch (error) {
      signal.throwIfAborted();
      failed.set(uid, error);
    }
  };
  const uids = all.values();
  const lane = async (): Promise<void> => {
    for (const uid of uids) await alone(uid, () => sweepOne(uid));
  };
  const lanes = await Promise.allSettled(Array.from({ length: SWEPT_AT_ONCE }, lane));
  for (const each of lanes) if (each.status === 'rejected') throw each.reason;
  return { removed, failed };
}
