import type { Observable } from 'rxjs';
import type { PodUid } from '../model/pod.ts';
import type { PodSummary } from './container-runtime.ts';

export interface PlegHealth {
  readonly healthy: boolean;
  /** Since the last relist that worked, or since the first was asked for; 0 before that. */
  readonly ageMs: number;
  /** In the kubelet's words where it is not healthy, with the engine call that is waited for or its last error. */
  readonly message: string;
}

export interface PodChange {
  readonly uid: PodUid;
  readonly reason: 'engine event' | 'relist';
}

/** The streams are cold and share one engine stream and one relist loop, which live while one of them is subscribed. None errors or completes. */
export interface PodLifecycleEvents {
  /**
   * Pods to look at again: at once on the engine's word, and after a relist when they differ from the one before or had an event since. That
   * one is for what follows an event without a word of its own, and leaves no trace in the listings. The first relist wakes no pod.
   */
  readonly changes: Observable<PodChange>;
  /** Everything that the engine has, after each relist; the latest at once for who comes later. */
  readonly relists: Observable<readonly PodSummary[]>;
  /** The engine answers again after an outage: whatever waited for it need not wait longer. */
  readonly recoveries: Observable<unknown>;
  health(): PlegHealth;
  /** Pods that a relist found changed without any event, since the start: what a lossy event stream has cost. */
  missed(): number;
}
