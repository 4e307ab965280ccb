import { type Pod, type PodFullName, podFullName, type PodUid } from '../../model/pod.ts';
import type { PodSummary } from '../../ports/container-runtime.ts';
import type { PodLivesReader } from '../../ports/pod-lives.ts';
import type { PodPhaseOfLife } from '../../ports/pod-plan.ts';

/**
 * Where each pod stands between its first sight and its last trace: waiting → syncing → terminating → terminated.
 *
 * INVARIANTS
 * - At most one uid owns a full name, and only an owner is synced: an old pod and its successor never run side by side.
 * - A pod that began to terminate never syncs again before its end. Declared again with the same uid, it starts over after that.
 */
export class PodLives implements PodLivesReader {
  readonly #owners = new Map<PodFullName, PodUid>();
  readonly #names = new Map<PodUid, PodFullName>();
  /** Begun, or found running, and not ended yet. */
  readonly #unended = new Set<PodUid>();
  /** In the engine when the agent began. */
  readonly #found = new Set<PodUid>();
  readonly #terminatingSinceMs = new Map<PodUid, number>();
  readonly #ended = new Set<PodUid>();

  /** What the engine has already keeps its name until it has been looked at; among several of one name, the one that runs. */
  adopt(pods: readonly PodSummary[]): void {
    const runs = ({ parts }: PodSummary): boolean => parts.some(({ phase }) => phase === 'running');
    for (const pod of [...pods.filter(runs), ...pods.filter((pod) => !runs(pod))]) {
      this.#unended.add(pod.uid);
      this.#found.add(pod.uid);
      this.#claim(pod.uid, podFullName({ metadata: pod }));
    }
  }

  /**
   * Says where the pod stands now that it is looked at; `pod` is undefined when no source declares it any more. One that gives way claims
   * no name, and comes to its end where it holds one.
   */
  enter(uid: PodUid, pod: Pod | undefined, nowMs: number, givesWay = false): PodPhaseOfLife {
    const leaving =
      pod === undefined || pod.metadata.deletionTimestamp !== undefined || (givesWay && (this.#names.has(uid) || this.#found.has(uid)));
    if (this.#ended.has(uid)) {
      if (pod !== undefined && leaving) return 'terminated';
      this.#ended.delete(uid);
    }
    this.#unended.add(uid);
    if (leaving || this.#terminatingSinceMs.has(uid)) {
      if (!this.#terminatingSinceMs.has(uid)) this.#terminatingSinceMs.set(uid, nowMs);
      return 'terminating';
    }
    return !givesWay && this.#claim(uid, podFullName(pod)) ? 'syncing' : 'waiting';
  }

  /** Whether something of the pod was in the engine when the agent began, and has not ended since. */
  wasFound(uid: PodUid): boolean {
    return this.#found.has(uid);
  }

  /** Pods whose end has not been seen, declared or not: who is gone from sources and engine alike still has to be let go. */
  get unended(): Iterable<PodUid> {
    return this.#unended;
  }

  isUnended(uid: PodUid): boolean {
    return this.#unended.has(uid);
  }

  terminatingSinceMs(uid: PodUid): number | undefined {
    return this.#terminatingSinceMs.get(uid);
  }

  /** The name that the pod holds. */
  nameOf(uid: PodUid): PodFullName | undefined {
    return this.#names.get(uid);
  }

  isHeld(pod: Pod): boolean {
    return this.#owners.has(podFullName(pod));
  }

  /** The pod has ended. Returns the name that is free now, if it held one. */
  end(uid: PodUid, stillDeclared: boolean): PodFullName | undefined {
    this.#terminatingSinceMs.delete(uid);
    this.#unended.delete(uid);
    this.#found.delete(uid);
    if (stillDeclared) this.#ended.add(uid);
    const name = this.#names.get(uid);
    this.#names.delete(uid);
    if (name !== undefined) this.#owners.delete(name);
    return name;
  }

  /** Something of a pod that had ended has turned up: it terminates once more. */
  reopen(uid: PodUid): void {
    this.#ended.delete(uid);
  }

  /** The pod comes to its end; if it is still declared then, it begins again. */
  startOver(uid: PodUid, nowMs: number): void {
    if (!this.#terminatingSinceMs.has(uid)) this.#terminatingSinceMs.set(uid, nowMs);
  }

  #claim(uid: PodUid, name: PodFullName): boolean {
    const owner = this.#owners.get(name);
    if (owner !== undefined) return owner === uid;
    this.#owners.set(name, uid);
    this.#names.set(uid, name);
    return true;
  }
}
