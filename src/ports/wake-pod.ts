import type { PodUid } from '../model/pod.ts';
import type { WakeReason } from './work-queue.ts';

/** Asks for a look at the pod. Never waits; repeats merge. */
export type WakePod = (uid: PodUid, reason: WakeReason) => void;
