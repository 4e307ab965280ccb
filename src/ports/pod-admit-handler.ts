import type { PodRefusal } from '../model/pod-admission.ts';
import type { Pod, PodUid } from '../model/pod.ts';

/** Who may run here. A decision is made once for each pod, counts from that moment, and stays until the pod is forgotten. */
export interface PodAdmitHandler {
  /** Why the pod may not run here; undefined: it may, or is not to be judged yet. Decides first about those that come before it. */
  admit(pod: Pod): PodRefusal | undefined;
  /** Nothing of the pod is left. */
  forget(uid: PodUid): void;
}
