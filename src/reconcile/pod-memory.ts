import type { Clock } from '../base/clock.ts';
import { type Moment, monotonicOf } from '../base/moment.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import { parseTime } from '../model/time.ts';
import type { ObservedPod } from '../ports/container-runtime.ts';
import type { PodPhaseOfLife } from '../ports/pod-plan.ts';

export interface StartFailure {
  readonly reason: string;
  readonly message: string;
}

/** What the agent knows of pods and the engine does not: why a container did not start, when the pod began, what it was. Lost at a restart, without harm. */
export class PodMemory {
  readonly #startFailures = new Map<PodUid, Map<string, StartFailure>>();
  readonly #began = new Map<PodUid, Moment>();
  /** By container: until when its start was last held back. */
  readonly #heldUntilMs = new Map<PodUid, Map<string, number>>();
  /** Where the pod stood when it was last said that it gives way. */
  readonly #gaveWay = new Map<PodUid, PodPhaseOfLife>();
  readonly #declared = new Map<PodUid, Pod>();

  startFailures(uid: PodUid): ReadonlyMap<string, StartFailure> {
    return this.#startFailures.get(uid) ?? new Map();
  }

  containerFailed(uid: PodUid, container: string, failure: StartFailure): void {
    const ofPod = this.#startFailures.get(uid) ?? new Map<string, StartFailure>();
    this.#startFailures.set(uid, ofPod.set(container, failure));
  }

  containerStarted(uid: PodUid, container: string): void {
    this.#startFailures.get(uid)?.delete(container);
  }

  /** Whether this is the first time that the container's start is held back until then. */
  isHeldAnew(uid: PodUid, container: string, notBeforeMs: number): boolean {
    const ofPod = this.#heldUntilMs.get(uid) ?? new Map<string, number>();
    if (ofPod.get(container) === notBeforeMs) return false;
    this.#heldUntilMs.set(uid, ofPod.set(container, notBeforeMs));
    return true;
  }

  /** Whether this is news: that a pod of this uid, standing there, gives way to a static pod. */
  givesWayAnew(uid: PodUid, life: PodPhaseOfLife): boolean {
    const before = this.#gaveWay.get(uid);
    this.#gaveWay.set(uid, life);
    return before !== life;
  }

  /** The declaration that was last told here; `pod` takes its place. */
  declared(uid: PodUid, pod: Pod | undefined): Pod | undefined {
    const before = this.#declared.get(uid);
    if (pod) this.#declared.set(uid, pod);
    return before;
  }

  /** When the pod began: the earliest date that was known of it when it was first looked at, be it that of the first look. */
  began(
    pod: Pod | undefined,
    { uid, sandboxes }: Pick<ObservedPod, 'uid' | 'sandboxes'>,
    clock: Pick<Clock, 'now' | 'monotonicMs'>,
  ): Moment {
    const before = this.#began.get(uid);
    if (before) return before;
    const told = parseTime(pod?.status?.startTime) ?? Number.POSITIVE_INFINITY;
    const dateMs = Math.min(clock.now(), told, ...sandboxes.map(({ createdAtMs }) => createdAtMs));
    const began = { dateMs, monotonicMs: monotonicOf(dateMs, clock) };
    this.#began.set(uid, began);
    return began;
  }

  forget(uid: PodUid): void {
    this.#startFailures.delete(uid);
    this.#began.delete(uid);
    this.#declared.delete(uid);
    this.#heldUntilMs.delete(uid);
    this.#gaveWay.delete(uid);
  }
}
