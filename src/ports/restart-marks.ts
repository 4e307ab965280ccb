import type { PodUid } from '../model/pod.ts';
import type { ContainerId } from './container-runtime.ts';

/** Which containers were stopped to be started again, over a restart of the agent. */
export interface RestartMarks {
  /** This instance is about to be stopped, to be started again. Never rejects. */
  mark(uid: PodUid, container: string, id: ContainerId): Promise<void>;
  /** The last instance of each container that was marked. Never rejects. */
  load(uid: PodUid): Promise<ReadonlyMap<string, ContainerId>>;
}
