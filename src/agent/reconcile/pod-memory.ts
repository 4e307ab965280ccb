import type { Clock } from '../../base/clock.ts';
import { type Moment, momentOf, monotonicOf } from '../../base/moment.ts';
import type { Pod, PodUid } from '../../model/pod.ts';
import { parseTime } from '../../model/time.ts';
import type { ContainerId, ObservedPod } from '../../ports/container-runtime.ts';
import type { PodPhaseOfLife } from '../../ports/pod-plan.ts';
import type { StartFailure } from '../../model/start-failure.ts';
import { isRunning, neverRan } from './instances.ts';
import { sameObserved } from './same-observed.ts';

/** What is known of one pod. */
interface Memory {
  readonly startFailures: Map<string, StartFailure>;
  began: Moment | undefined;
  /** By container: until when its start was last held back. */
  readonly heldUntilMs: Map<string, number>;
  /** Where the pod stood when it was last said that it gives way. */
  gaveWay: PodPhaseOfLife | undefined;
  declared: Pod | undefined;
  previous: Pod | undefined;
  isTornDown: boolean;
  /** Containers that ran at the first look: no agent but one before this can have started them. */
  ranBefore: ReadonlySet<ContainerId> | undefined;
  /** By container: the highest attempt that was seen to have begun. */
  readonly attempts: Map<string, number>;
  /** What the last look found. */
  seen: ObservedPod | undefined;
  /** What the status that is shown was made of, since nothing was done to the pod. */
  shownFrom: readonly unknown[] | undefined;
}

/** What the agent knows of pods and the engine does not: why a container did not start, when the pod began, what it was. Lost at a restart, without harm. */
export class PodMemory {
  readonly #pods = new Map<PodUid, Memory>();

  startFailures(uid: PodUid): ReadonlyMap<string, StartFailure> {
    return this.#pods.get(uid)?.startFailures ?? new Map();
  }

  containerFailed(uid: PodUid, container: string, failure: StartFailure): void {
    this.#of(uid).startFailures.set(container, failure);
  }

  containerStarted(uid: PodUid, container: string): void {
    this.#pods.get(uid)?.startFailures.delete(container);
  }

  /** Takes note that the container's start is held back until then. Returns whether that is news. */
  noteHeld(uid: PodUid, container: string, notBeforeMs: number): boolean {
    const { heldUntilMs } = this.#of(uid);
    if (heldUntilMs.get(container) === notBeforeMs) return false;
    heldUntilMs.set(container, notBeforeMs);
    return true;
  }

  /** Takes note that a pod of this uid, standing there, gives way to a static pod. Returns whether that is news. */
  noteGivesWay(uid: PodUid, life: PodPhaseOfLife): boolean {
    const memory = this.#of(uid);
    const before = memory.gaveWay;
    memory.gaveWay = life;
    return before !== life;
  }

  noteTornDown(uid: PodUid): void {
    this.#of(uid).isTornDown = true;
  }

  isTornDown(uid: PodUid): boolean {
    return this.#pods.get(uid)?.isTornDown ?? false;
  }

  /** Takes a look at the pod: what it is declared as now, if it is, and when it began, the first time. */
  noteLook(
    pod: Pod | undefined,
    { uid, sandboxes, containers }: Pick<ObservedPod, 'uid' | 'sandboxes' | 'containers'>,
    clock: Pick<Clock, 'now' | 'monotonicMs'>,
  ): void {
    const memory = this.#of(uid);
    memory.previous = memory.declared;
    memory.declared = pod ?? memory.declared;
    memory.ranBefore ??= new Set(containers.filter(isRunning).map(({ id }) => id));
    for (const { name, attempt, state } of containers)
      if (!neverRan(state)) memory.attempts.set(name, Math.max(attempt, memory.attempts.get(name) ?? 0));
    if (pod === undefined || memory.began !== undefined) return;
    const shown = parseTime(pod.status?.startTime) ?? Number.POSITIVE_INFINITY;
    const dateMs = Math.min(clock.now(), shown, ...sandboxes.map(({ createdAtMs }) => createdAtMs));
    memory.began = { dateMs, monotonicMs: monotonicOf(dateMs, clock) };
  }

  /** What was found now, or what the last look found where that is the same: who works with it need not do so again. */
  asSeen(observed: ObservedPod): ObservedPod {
    const memory = this.#pods.get(observed.uid);
    if (memory === undefined) return observed;
    if (memory.seen === undefined || !sameObserved(memory.seen, observed)) memory.seen = observed;
    return memory.seen;
  }

  /** Whether the status that is shown was made of these very values, and nothing has been done to the pod since. */
  isShownFrom(uid: PodUid, values: readonly unknown[]): boolean {
    const before = this.#pods.get(uid)?.shownFrom;
    return before !== undefined && values.length === before.length && values.every((value, i) => value === before[i]);
  }

  noteShown(uid: PodUid, values: readonly unknown[]): void {
    this.#of(uid).shownFrom = values;
  }

  /** Something is done to the pod. */
  noteActed(uid: PodUid): void {
    const memory = this.#pods.get(uid);
    if (memory) memory.shownFrom = undefined;
  }

  /** The declaration at the last look that had one. */
  declared(uid: PodUid): Pod | undefined {
    return this.#pods.get(uid)?.declared;
  }

  /** Whether the container runs since before this agent. */
  ranBefore(uid: PodUid, id: ContainerId): boolean {
    return this.#pods.get(uid)?.ranBefore?.has(id) ?? false;
  }

  /** The highest attempt of the container that this agent has seen begun, also of one that is gone. */
  lastAttempt(uid: PodUid, container: string): number | undefined {
    return this.#pods.get(uid)?.attempts.get(container);
  }

  /** The declaration before that of the last look. */
  previous(uid: PodUid): Pod | undefined {
    return this.#pods.get(uid)?.previous;
  }

  /** When the pod began: the earliest date known of it at the first look, or the date of that look. */
  began(uid: PodUid, clock: Pick<Clock, 'now' | 'monotonicMs'>): Moment {
    return this.#pods.get(uid)?.began ?? momentOf(clock);
  }

  forget(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  #of(uid: PodUid): Memory {
    let memory = this.#pods.get(uid);
    if (memory === undefined) {
      memory = {
        startFailures: new Map(),
        began: undefined,
        heldUntilMs: new Map(),
        gaveWay: undefined,
        declared: undefined,
        previous: undefined,
        isTornDown: false,
        ranBefore: undefined,
        attempts: new Map(),
        seen: undefined,
        shownFrom: undefined,
      };
      this.#pods.set(uid, memory);
    }
    return memory;
  }
}
