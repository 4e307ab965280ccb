import type { Clock } from '../base/clock.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodEnd, PodEnds } from '../ports/pod-ends.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { WakePod } from '../ports/wake-pod.ts';
import type { PodRecords } from './reconcile/pod-records.ts';
import { gracePeriodsOf, killGracePeriodSeconds } from './reconcile/kill-grace-period.ts';
import type { PodLives } from './reconcile/pod-lives.ts';

export interface EndedPodsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly pods: Pick<PodStore, 'get'>;
  readonly lives: Pick<PodLives, 'isUnended' | 'startOver'>;
  readonly statuses: Pick<PodStatuses, 'get'>;
  readonly records: Pick<PodRecords<PodEnd>, 'load' | 'save' | 'settled' | 'forget'>;
  readonly wake: WakePod;
}

interface KnownEnd extends PodEnd {
  readonly sinceMs: number;
}

/** The pods that the node ends for reasons of its own, until nothing of them is left. */
export class EndedPods implements PodEnds {
  /** Undefined: the pod has not been ended, nor was it by an agent before this one. */
  readonly #ends = new Map<PodUid, KnownEnd | undefined>();
  readonly #deps: EndedPodsDeps;

  constructor(deps: EndedPodsDeps) {
    this.#deps = deps;
  }

  end(uid: PodUid, end: PodEnd): void {
    const { clock, pods, lives, statuses, records, wake } = this.#deps;
    if (pods.get(uid) === undefined && !lives.isUnended(uid)) return;
    const before = this.#known(uid);
    if (!before && isTerminalPhase(statuses.get(uid)?.phase)) return;
    const first = before ?? { ...end, sinceMs: clock.monotonicMs() };
    const { sinceMs, ...kept } = { ...first, graceSeconds: this.#shorter(uid, first, end) };
    this.#ends.set(uid, { ...kept, sinceMs });
    if (this.#isKept(uid)) records.save(uid, kept);
    wake(uid, 'pod ends');
  }

  of(uid: PodUid): PodEnd | undefined {
    return this.#known(uid);
  }

  startOver(uid: PodUid): void {
    const { clock, pods, lives, wake } = this.#deps;
    const pod = pods.get(uid)?.pod;
    if (pod === undefined || !isStaticPod(pod)) return;
    lives.startOver(uid, clock.monotonicMs());
    wake(uid, 'pod ends');
  }

  /** When the pod was ended first, on the clock's monotonic time; by an agent before this one, when this one heard of it. */
  sinceMs(uid: PodUid): number | undefined {
    return this.#known(uid)?.sinceMs;
  }

  /** See PodRecords. */
  settled(uid: PodUid, signal: AbortSignal): Promise<void> {
    return this.#deps.records.settled(uid, signal);
  }

  /** Nothing of the pod is left. */
  forget(uid: PodUid): void {
    this.#ends.delete(uid);
    this.#deps.records.forget(uid);
  }

  #known(uid: PodUid): KnownEnd | undefined {
    if (!this.#ends.has(uid) && this.#isKept(uid)) {
      const kept = this.#deps.records.load(uid);
      this.#ends.set(uid, kept && { ...kept, sinceMs: this.#deps.clock.monotonicMs() });
    }
    return this.#ends.get(uid);
  }

  /** A static pod is the node's own: it comes back with the agent, also after a shutdown of the machine. */
  #isKept(uid: PodUid): boolean {
    const pod = this.#deps.pods.get(uid)?.pod;
    return pod !== undefined && !isStaticPod(pod);
  }

  #shorter(uid: PodUid, { graceSeconds: a }: PodEnd, { graceSeconds: b }: PodEnd): number | undefined {
    if (a === b) return a;
    const pod = this.#deps.pods.get(uid)?.pod;
    const own = pod ? killGracePeriodSeconds(gracePeriodsOf(pod)) : Number.POSITIVE_INFINITY;
    return Math.min(a ?? own, b ?? own);
  }
}
