import { type Observable, Subject } from 'rxjs';
import type { PodUid } from '../model/pod.ts';
import type { WakePod } from '../ports/wake-pod.ts';
import type { PodWake, WakeReason } from '../ports/work-queue.ts';

/** Who asks for a look at a pod, and who hears of it. */
export class Wakes {
  readonly #wakes = new Subject<PodWake>();
  /** Hot. Before the intake runs, wakes are lost: each pod is looked at then in any case. */
  readonly stream: Observable<PodWake> = this.#wakes.asObservable();

  readonly wake: WakePod = (uid: PodUid, reason: WakeReason) => this.#wakes.next({ uid, reason });
}
