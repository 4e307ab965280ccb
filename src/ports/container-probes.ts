import type { Pod, PodStatus, PodUid } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import type { ContainerId } from './container-runtime.ts';

/** The probes of containers: who asks, and what was found. Each may be called again with the same pod at any time. */
export interface ContainerProbes {
  liveness(id: ContainerId): ProbeResult | undefined;
  readiness(id: ContainerId): ProbeResult | undefined;
  startup(id: ContainerId): ProbeResult | undefined;
  /** The pod runs here, as declared now: its probes begin, and those that it no longer declares end. */
  follow(pod: Pod): void;
  /** The pod's status, as it was reported just now. */
  reported(uid: PodUid, status: PodStatus): void;
  /** The pod is on its way out. */
  ending(uid: PodUid): void;
  forget(uid: PodUid): void;
}
