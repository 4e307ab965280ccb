import type { Pod, PodUid } from '../model/pod.ts';

/** Where pods stand between their first sight and their last trace. */
export interface PodLivesReader {
  /** Whether a pod of this name has not ended yet, declared or not. */
  isHeld(pod: Pod): boolean;
  /** Whether something of the pod was in the engine when the agent began, and has not ended since. */
  wasFound(uid: PodUid): boolean;
}
