import type { Observable } from 'rxjs';
import type { Pod, PodFullName, PodUid } from '../model/pod.ts';

export interface ApiPodsChange {
  /** Whose objects came, changed or went. */
  readonly names: readonly PodFullName[];
  /** The complete set arrived, at first or again: `names` are all that were and are. */
  readonly relisted: boolean;
}

/** This node's pods as the API server has them, mirror pods included: for those who write back to it. What should run is the PodStore's to say. */
export interface ApiPods {
  /** False until the API server has sent the complete set once. */
  readonly synced: boolean;
  /** Emits when the objects can already be read here. Hot. */
  readonly changes: Observable<ApiPodsChange>;
  byUid(uid: PodUid): Pod | undefined;
  byName(name: PodFullName): Pod | undefined;
  list(): readonly Pod[];
  /**
   * Takes the API server's answer to a write, so that readers see it before the watch has sent it. What the watch has overtaken is
   * ignored; so is what is no pod.
   */
  learn(answer: unknown): void;
}
