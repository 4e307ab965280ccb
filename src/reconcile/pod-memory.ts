import type { Pod, PodUid } from '../model/pod.ts';

export interface StartFailure {
  readonly reason: string;
  readonly message: string;
}

/** What the agent knows of pods and the engine does not: why a container did not start, when the pod began, what it was. Lost at a restart, without harm. */
export class PodMemory {
  readonly #startFailures = new Map<PodUid, Map<string, StartFailure>>();
  readonly #startedAtMs = new Map<PodUid, number>();
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
  }
}
