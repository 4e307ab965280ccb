import type { Clock } from '../../base/clock.ts';
import { monotonicOf } from '../../base/moment.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ContainerId, ObservedContainer, ObservedPod } from '../../ports/container-runtime.ts';

/** What is known of one container: when it was last seen to be alive or ended before, and its end as the engine and as our clock has it. */
interface Known {
  readonly aliveAtMs: number;
  readonly end: { readonly dateMs: number; readonly atMs: number } | undefined;
}

/**
 * When containers ended, on the clock's monotonic time. The engine tells dates, by a clock of its own that may be set at any time: a date is
 * believed as far as it lies between the last moment at which the container was seen alive and the first at which it was seen ended, and is
 * read once. What is counted from the end takes no notice of a clock that is set afterwards.
 */
export class ContainerEnds {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly #known = new Map<PodUid, ReadonlyMap<ContainerId, Known>>();

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** To be called with each observation of the pod; forgets what is not in it. */
  seen({ uid, containers }: Pick<ObservedPod, 'uid' | 'containers'>): void {
    const before = this.#known.get(uid);
    if (containers.length === 0) this.#known.delete(uid);
    else this.#known.set(uid, new Map(containers.map((container) => [container.id, this.#look(container, before?.get(container.id))])));
  }

  /** Undefined for a container that was not seen, or has not ended. */
  endedAtMs(uid: PodUid, id: ContainerId): number | undefined {
    return this.#known.get(uid)?.get(id)?.end?.atMs;
  }

  #look({ state }: ObservedContainer, before: Known | undefined): Known {
    if (state.phase !== 'exited') return { aliveAtMs: this.#clock.monotonicMs(), end: undefined };
    if (before?.end?.dateMs === state.finishedAtMs) return before;
    // Another end of the same container: it was started by hand.
    const aliveAtMs = before?.end?.atMs ?? before?.aliveAtMs ?? Number.NEGATIVE_INFINITY;
    return { aliveAtMs, end: { dateMs: state.finishedAtMs, atMs: monotonicOf(state.finishedAtMs, this.#clock, aliveAtMs) } };
  }
}
