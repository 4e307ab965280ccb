import { inAdmissionOrder } from '../model/admission-order.ts';
import { NodeUse } from '../model/node-use.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { PodAdmitHandler } from '../ports/pod-admit-handler.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { StatusManager } from '../ports/status-manager.ts';

export interface PodAdmissionsDeps {
  /** The agent, which there is once it is asked. */
  readonly inside: () => {
    readonly pods: Pick<PodStore, 'list' | 'staticNamesakeOf'>;
    /** Whether the pod was in the engine when this agent began: it was admitted before. */
    readonly wasFound: (uid: PodUid) => boolean;
  };
  readonly statuses: Pick<StatusManager, 'get'>;
  /** Whether the pod may run beside these. Pure. */
  readonly judge: (pod: Pod, others: NodeUse) => PodRefusal | undefined;
}

/**
 * Decides about one pod after the other, whichever asks first: before a pod is judged, all are that are declared by then and come before it.
 * What is admitted counts at once for the next, until it has ended; so does what terminates, as long as it is declared (as for the
 * kubelet's filterOutInactivePods).
 */
export class PodAdmissions implements PodAdmitHandler {
  readonly #deps: PodAdmissionsDeps;
  readonly #decided = new Map<PodUid, PodRefusal | 'admitted'>();
  /** What those have that counted when a pod was judged last. */
  readonly #use = new NodeUse();

  constructor(deps: PodAdmissionsDeps) {
    this.#deps = deps;
  }

  admit(pod: Pod): PodRefusal | undefined {
    const { uid } = pod.metadata;
    if (this.#isToBeJudged(pod)) this.#decideAll();
    const decision = this.#decided.get(uid);
    return decision === 'admitted' ? undefined : decision;
  }

  forget(uid: PodUid): void {
    this.#decided.delete(uid);
  }

  /** All that wait, at once: of many that are declared together the first asks for all of them. */
  #decideAll(): void {
    const { inside, judge } = this.#deps;
    const declared = inside()
      .pods.list()
      .map(({ pod }) => pod);
    const counting = new Set<PodUid>();
    for (const pod of declared) {
      if (!this.#counts(pod)) continue;
      counting.add(pod.metadata.uid);
      if (!this.#use.has(pod.metadata.uid)) this.#use.add(pod);
    }
    for (const uid of this.#use.uids) if (!counting.has(uid)) this.#use.remove(uid);
    for (const pod of inAdmissionOrder(declared.filter((each) => this.#isToBeJudged(each)))) {
      const refusal = judge(pod, this.#use);
      this.#decided.set(pod.metadata.uid, refusal ?? 'admitted');
      if (!refusal) this.#use.add(pod);
    }
  }

  #isToBeJudged(pod: Pod): boolean {
    const { uid, deletionTimestamp } = pod.metadata;
    if (this.#decided.has(uid) || this.#deps.inside().wasFound(uid)) return false;
    if (deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase) || this.#isOver(pod)) return false;
    // One that waits for a static pod of its name is judged when that is gone.
    return this.#deps.inside().pods.staticNamesakeOf(pod) === undefined;
  }

  #counts(pod: Pod): boolean {
    const { uid } = pod.metadata;
    return (this.#decided.get(uid) === 'admitted' || this.#deps.inside().wasFound(uid)) && !this.#isOver(pod);
  }

  #isOver({ metadata, status }: Pod): boolean {
    return isTerminalPhase(this.#deps.statuses.get(metadata.uid)?.phase ?? status?.phase);
  }
}
