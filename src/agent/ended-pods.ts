import type { Clock } from '../base/clock.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodEnd, PodEnds } from '../ports/pod-ends.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { WakePod } from '../ports/wake-pod.ts';
import { gracePeriodsOf, killGracePeriodSeconds } from './reconcile/kill-grace-period.ts';
import type { PodLives } from './reconcile/pod-lives.ts';

export interface EndedPodsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly pods: Pick<PodStore, 'get'>;
  readonly lives: Pick<PodLives, 'isUnended'>;
  readonly statuses: Pick<PodStatuses, 'get'>;
  readonly wake: WakePod;
}

/** The pods that the node ends for reasons of its own, until nothing of them is left. */
export class EndedPods implements PodEnds {
  readonly #ends = new Map<PodUid, PodEnd & { readonly sinceMs: number }>();
  readonly #deps: EndedPodsDeps;

  constructor(deps: EndedPodsDeps) {
    this.#deps = deps;
  }

  end(uid: PodUid, end: PodEnd): void {
    const { clock, pods, lives, statuses, wake } = this.#deps;
    if (pods.get(uid) === undefined && !lives.isUnended(uid)) return;
    if (!this.#ends.has(uid) && isTerminalPhase(statuses.get(uid)?.phase)) return;
    const before = this.#ends.get(uid);
    const first = before ?? { ...end, sinceMs: clock.monotonicMs() };
    this.#ends.set(uid, { ...first, graceSeconds: this.#shorter(uid, first, end) });
    wake(uid, 'pod ends');
  }

  of(uid: PodUid): PodEnd | undefined {
    return this.#ends.get(uid);
  }

  /** When the pod was ended first, on the clock's monotonic time. */
  sinceMs(uid: PodUid): number | undefined {
    return this.#ends.get(uid)?.sinceMs;
  }

  /** Nothing of the pod is left. */
  forget(uid: PodUid): void {
    this.#ends.delete(uid);
  }

  #shorter(uid: PodUid, { graceSeconds: a }: PodEnd, { graceSeconds: b }: PodEnd): number | undefined {
    if (a === b) return a;
    const pod = this.#deps.pods.get(uid)?.pod;
    const own = pod ? killGracePeriodSeconds(gracePeriodsOf(pod)) : Number.POSITIVE_INFINITY;
    return Math.min(a ?? own, b ?? own);
  }
}
