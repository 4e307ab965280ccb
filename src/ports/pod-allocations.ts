import type { Allocation } from '../model/pod-allocations.ts';
import type { PodUid } from '../model/pod.ts';

/** What pods were given of the node's resources, which is not what they ask for while a resize waits for room. */
export interface PodAllocationsReader {
  /** Undefined: nothing was decided about the pod yet, and what it asks for counts. */
  allocationOf(uid: PodUid): Allocation | undefined;
}
