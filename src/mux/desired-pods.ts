import { CONFIG_SOURCE_ANNOTATION } from '../model/config-annotations.ts';
import type { Pod, PodUid, SourceName } from '../model/pod.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import type { DesiredPod, PodStore } from '../ports/pod-store.ts';
import type { WakeReason } from '../ports/work-queue.ts';

export interface PodWake {
  readonly uid: PodUid;
  readonly reason: WakeReason;
}

/** The consumer's side of the mux: what should run, by uid. */
export class DesiredPods implements PodStore {
  readonly #pods = new Map<PodUid, DesiredPod>();
  readonly #heard = new Set<string>();
  readonly #seenAllSources: (heard: ReadonlySet<string>) => boolean;

  constructor(seenAllSources: (heard: ReadonlySet<string>) => boolean) {
    this.#seenAllSources = seenAllSources;
  }

  get(uid: PodUid): DesiredPod | undefined {
    return this.#pods.get(uid);
  }

  list(): readonly DesiredPod[] {
    return [...this.#pods.values()];
  }

  get synced(): boolean {
    return this.#seenAllSources(this.#heard);
  }

  /** Takes an update in and says whom to wake. */
  apply({ op, source, pods }: PodUpdate): readonly PodWake[] {
    this.#heard.add(source);
    switch (op) {
      case 'SET': {
        const gone = [...this.#pods.keys()].filter((uid) => !pods.some((pod) => pod.metadata.uid === uid));
        return [...gone.map((uid) => this.#drop(uid)), ...pods.map((pod) => this.#put(pod, 'pod updated'))];
      }
      case 'ADD':
        return pods.map((pod) => this.#put(pod, 'pod added'));
      case 'UPDATE':
        return pods.map((pod) => this.#put(pod, 'pod updated'));
      case 'DELETE':
        return pods.map((pod) => this.#put(pod, 'pod deleted'));
      case 'RECONCILE':
        return pods.map((pod) => this.#put(pod, 'pod status differs'));
      case 'REMOVE':
        return pods.map((pod) => this.#drop(pod.metadata.uid));
      default:
        return op satisfies never;
    }
  }

  #put(pod: Pod, reason: WakeReason): PodWake {
    const source = (pod.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] ?? 'api') as SourceName;
    this.#pods.set(pod.metadata.uid, { pod, source });
    return { uid: pod.metadata.uid, reason };
  }

  #drop(uid: PodUid): PodWake {
    this.#pods.delete(uid);
    return { uid, reason: 'pod removed' };
  }
}
