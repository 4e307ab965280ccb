import type { Pod, PodUid } from '../model/pod.ts';
import type { ContainerId, ObservedPod } from '../ports/container-runtime.ts';
import { newestOf } from './instances.ts';

export interface StartFailure {
  readonly reason: string;
  readonly message: string;
}

/** What the agent knows of pods and the engine does not: why a container did not start, when the pod began, what it was. Lost at a restart, without harm. */
export class PodMemory {
  readonly #startFailures = new Map<PodUid, Map<string, StartFailure>>();
  readonly #startedAtMs = new Map<PodUid, number>();
  /** By container: until when its start was last held back. */
  readonly #heldUntilMs = new Map<PodUid, Map<string, number>>();
  readonly #declared = new Map<PodUid, Pod>();
  /** By container: the instance that was stopped to be started again. */
  readonly #restarting = new Map<PodUid, Map<string, ContainerId>>();

  startFailures(uid: PodUid): ReadonlyMap<string, StartFailure> {
    return this.#startFailures.get(uid) ?? new Map();
  }

  containerFailed(uid: PodUid, container: string, failure: StartFailure): void {
    const ofPod = this.#startFailures.get(uid) ?? new Map<string, StartFailure>();
    this.#startFailures.set(uid, ofPod.set(container, failure));
  }

  containerStarted(uid: PodUid, container: string): void {
    this.#startFailures.get(uid)?.delete(container);
    this.#restarting.get(uid)?.delete(container);
  }

  containerRestarts(uid: PodUid, container: string, id: ContainerId): void {
    const ofPod = this.#restarting.get(uid) ?? new Map<string, ContainerId>();
    this.#restarting.set(uid, ofPod.set(container, id));
  }

  /**
   * The pod as it is meant: where the newest instance was stopped to be started again, it and those before it count as only created.
   * Neither their exit codes nor the restart policy say that the container has done its work.
   */
  withRestarts(observed: ObservedPod): ObservedPod {
    const ofPod = this.#restarting.get(observed.uid);
    if (ofPod === undefined || ofPod.size === 0) return observed;
    const containers = observed.containers.map((one) => {
      const restarts = ofPod.has(one.name) && ofPod.get(one.name) === newestOf(observed, one.name)?.id;
      return restarts && one.state.phase === 'exited' ? { ...one, state: { phase: 'created' as const, restarts: true as const } } : one;
    });
    return { ...observed, containers };
  }

  /** Whether this is the first time that the container's start is held back until then. */
  isHeldAnew(uid: PodUid, container: string, notBeforeMs: number): boolean {
    const ofPod = this.#heldUntilMs.get(uid) ?? new Map<string, number>();
    if (ofPod.get(container) === notBeforeMs) return false;
    this.#heldUntilMs.set(uid, ofPod.set(container, notBeforeMs));
    return true;
  }

  /** The declaration that was last told here; `pod` takes its place. */
  declared(uid: PodUid, pod: Pod | undefined): Pod | undefined {
    const before = this.#declared.get(uid);
    if (pod) this.#declared.set(uid, pod);
    return before;
  }

  /** When the pod began: the earliest moment that anyone told. */
  startedAtMs(uid: PodUid, seenAtMs: number): number {
    const startedAtMs = Math.min(seenAtMs, this.#startedAtMs.get(uid) ?? seenAtMs);
    this.#startedAtMs.set(uid, startedAtMs);
    return startedAtMs;
  }

  forget(uid: PodUid): void {
    this.#startFailures.delete(uid);
    this.#startedAtMs.delete(uid);
    this.#declared.delete(uid);
    this.#heldUntilMs.delete(uid);
    this.#restarting.delete(uid);
  }
}
