import type { PodUid } from '../model/pod.ts';

export interface StartFailure {
  readonly reason: string;
  readonly message: string;
}

/** What the agent knows of pods and the engine does not: why a container did not start, and when the pod began. Lost at a restart, without harm. */
export class PodMemory {
  readonly #startFailures = new Map<PodUid, Map<string, StartFailure>>();
  readonly #startedAtMs = new Map<PodUid, number>();

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

  /** When the pod began: the earliest moment that anyone told. */
  startedAtMs(uid: PodUid, seenAtMs: number): number {
    const startedAtMs = Math.min(seenAtMs, this.#startedAtMs.get(uid) ?? seenAtMs);
    this.#startedAtMs.set(uid, startedAtMs);
    return startedAtMs;
  }

  forget(uid: PodUid): void {
    this.#startFailures.delete(uid);
    this.#startedAtMs.delete(uid);
  }
}
