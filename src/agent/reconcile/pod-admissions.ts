import type { Logger } from '../../base/logger.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { inAdmissionOrder } from '../../model/admission-order.ts';
import { NodeUse } from '../../model/node-use.ts';
import type { PodRefusal } from '../../model/pod-admission.ts';
import { isTerminalPhase } from '../../model/pod-predicates.ts';
import { type Pod, type PodUid, aboutPod } from '../../model/pod.ts';
import type { PodLivesReader } from '../../ports/pod-lives.ts';
import type { PodStore } from '../../ports/pod-store.ts';
import type { PodStatuses } from '../../ports/pod-statuses.ts';
import type { WakePod } from '../../ports/wake-pod.ts';
import type { PodParticipants } from './pod-participants.ts';
import type { PodResizes } from './pod-resizes.ts';

export interface PodAdmissionsDeps {
  readonly pods: Pick<PodStore, 'get' | 'list' | 'staticNamesakeOf'>;
  readonly lives: Pick<PodLivesReader, 'wasFound'>;
  readonly statuses: Pick<PodStatuses, 'get'>;
  readonly participants: Pick<PodParticipants, 'admit'>;
  readonly resizes: Pick<PodResizes, 'allocated' | 'admitted' | 'decide' | 'refusalOf'>;
  readonly wake: WakePod;
  readonly log: Logger;
}

/**
 * Decides about one pod after the other, whichever asks first: before a pod is judged, all are that are declared by then and come before it.
 * What is admitted counts at once for the next, until it has ended; so does what terminates, as long as it is declared (as for the
 * kubelet's filterOutInactivePods).
 */
export class PodAdmissions {
  readonly #deps: PodAdmissionsDeps;
  readonly #decided = new Map<PodUid, PodRefusal | 'admitted'>();
  /** Decided about when another asked, and not asked for since. */
  readonly #untold = new Set<PodUid>();
  /** Open, and could not be judged: another that asks does not wait for them once more. */
  readonly #failed = new Set<PodUid>();
  /** Those that the deciding under way began with, or the last one did; less what was forgotten since. */
  #beingJudged: Set<PodUid> = new Set();
  /** What those have that counted when a pod was judged last. */
  readonly #use = new NodeUse();
  /** The deciding that is under way: one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: PodAdmissionsDeps) {
    this.#deps = deps;
  }

  /** Whether the pod is to ask: the answer is open, or the pod has not asked for it yet. */
  isToAsk(pod: Pod): boolean {
    return this.#untold.has(pod.metadata.uid) || this.isOpen(pod);
  }

  /** Whether the pod may run here is still open, and is to be decided now. */
  isOpen(pod: Pod): boolean {
    const { uid, deletionTimestamp } = pod.metadata;
    if (this.#decided.has(uid) || this.#deps.lives.wasFound(uid)) return false;
    if (deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase) || this.#isOver(pod)) return false;
    // One that waits for a static pod of its name is judged when that is gone.
    return this.#deps.pods.staticNamesakeOf(pod) === undefined;
  }

  /**
   * Why the pod may not run here; undefined: it may, or is not to be judged yet. A decision is made once, counts from that moment, and stays
   * until the pod is forgotten. Rejects where it cannot be made: the pod stays open, others do not.
   */
  async admit(pod: Pod, signal: AbortSignal): Promise<PodRefusal | undefined> {
    const { uid } = pod.metadata;
    if (this.isOpen(pod)) {
      // Of many that ask at once the first decides about all: the others find it done when their turn comes.
      const failures = await this.#inTurn(async () => (this.isOpen(pod) ? this.#decideAll(uid, signal) : undefined), signal);
      if (failures?.has(uid)) throw failures.get(uid);
    }
    this.#untold.delete(uid);
    return this.refusalOf(uid);
  }

  /** Decides whether the pod may have what it asks for now, and all that wait for room. Resolves with why not; undefined: it may. */
  async resize({ metadata: { uid } }: Pod, signal: AbortSignal): Promise<string | undefined> {
    const { pods, resizes } = this.#deps;
    await this.#inTurn(async () => {
      const active = pods.list().flatMap(({ pod }) => (this.#counts(pod) ? [pod] : []));
      // Counted again, with what it has now.
      for (const changed of resizes.decide(uid, active)) this.#use.remove(changed);
    }, signal);
    return resizes.refusalOf(uid);
  }

  /** Why it was decided that the pod may not run here; undefined: it may, or that is open. */
  refusalOf(uid: PodUid): PodRefusal | undefined {
    const decision = this.#decided.get(uid);
    return decision === 'admitted' ? undefined : decision;
  }

  forget(uid: PodUid): void {
    this.#decided.delete(uid);
    this.#untold.delete(uid);
    this.#failed.delete(uid);
    this.#beingJudged.delete(uid);
    this.#use.remove(uid);
  }

  async #inTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#turn;
    const over = Promise.withResolvers<void>();
    this.#turn = Promise.all([before, over.promise]);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      over.resolve();
    }
  }

  /** All that are open, at once: of many that are declared together the first asks for all of them. Resolves with those that could not be judged. */
  async #decideAll(asker: PodUid, signal: AbortSignal): Promise<ReadonlyMap<PodUid, unknown>> {
    const { pods, participants, resizes, wake, log } = this.#deps;
    const failures = new Map<PodUid, unknown>();
    const declared = pods.list().map(({ pod }) => pod);
    for (const pod of declared) if (this.#counts(pod) && !this.#use.has(pod.metadata.uid)) this.#use.add(resizes.allocated(pod));
    this.#recount();
    const open = declared.filter((each) => this.isOpen(each) && (each.metadata.uid === asker || !this.#failed.has(each.metadata.uid)));
    this.#beingJudged = new Set(open.map(({ metadata }) => metadata.uid));
    for (const pod of inAdmissionOrder(open)) {
      const { uid } = pod.metadata;
      signal.throwIfAborted();
      // Gone while those before it were judged.
      if (pods.get(uid) === undefined) continue;
      try {
        const refusal = await participants.admit(resizes.allocated(pod), this.#use, signal, () => this.#recount());
        if (this.#isGone(uid)) continue;
        this.#decided.set(uid, refusal ?? 'admitted');
        this.#failed.delete(uid);
        if (uid !== asker) this.#untold.add(uid);
        if (refusal) log.warn('pod refused', { ...aboutPod(pod), reason: refusal.reason, message: refusal.message });
        else {
          resizes.admitted(pod);
          this.#use.add(resizes.allocated(pod));
        }
      } catch (error) {
        failures.set(uid, error);
        if (!this.#isGone(uid) && !signal.aborted) this.#failed.add(uid);
      } finally {
        // Its end may have come before this: what was allocated meanwhile is released by another look.
        if (this.#isGone(uid)) wake(uid, 'orphan');
      }
    }
    return failures;
  }

  /** Whether the pod that was looked at is no more, also where one of the same uid has taken its place. */
  #isGone(uid: PodUid): boolean {
    return !this.#beingJudged.has(uid) || this.#deps.pods.get(uid) === undefined;
  }

  /** What has ended, or is no longer declared, has nothing any more. */
  #recount(): void {
    for (const uid of this.#use.uids) {
      const pod = this.#deps.pods.get(uid)?.pod;
      if (!pod || !this.#counts(pod)) this.#use.remove(uid);
    }
  }

  #counts(pod: Pod): boolean {
    const { uid } = pod.metadata;
    return (this.#decided.get(uid) === 'admitted' || this.#deps.lives.wasFound(uid)) && !this.#isOver(pod);
  }

  #isOver({ metadata, status }: Pod): boolean {
    return isTerminalPhase(this.#deps.statuses.get(metadata.uid)?.phase ?? status?.phase);
  }
}
