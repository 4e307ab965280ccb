import { isCriticalPod } from '../model/critical-pod.ts';
import { NodeUse } from '../model/node-use.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import { PodAllocations } from '../model/pod-allocations.ts';
import { type Pod, type PodUid, showPod } from '../model/pod.ts';
import type { PlannedChanges, PlannedPod } from '../model/planned-changes.ts';
import { roomFor } from '../model/room-for.ts';
import { mayUseSwap } from '../model/swap-limit.ts';
import { swapRules } from '../options/swap-rules.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodParticipants } from './reconcile/pod-participants.ts';

type Needs = Pick<NodeParts, 'options' | 'cgroups' | 'memory' | 'node' | 'allocations'>;

/**
 * Who would find room on the node, by the rules of admission, of resizes and of preemption, tried on counts of its own: what is decided here
 * counts for what is asked next, and for nothing else.
 */
export class PlannedRoom {
  readonly #participants: Pick<PodParticipants, 'wouldAdmit'>;
  readonly #allocations: PodAllocations;
  #active: readonly Pod[];
  readonly #refused = new Map<PodUid, PodRefusal>();
  readonly #resizes = new Map<PodUid, string>();
  /** Which pods end, and for whom. */
  readonly #preempted = new Map<PodUid, { readonly pod: Pod; readonly by: Pod }>();
  /** Of the resize that is being tried. */
  #victims: Pod[] = [];
  #use: NodeUse | undefined;

  constructor(
    { options, cgroups, memory, node, allocations }: Needs,
    participants: Pick<PodParticipants, 'wouldAdmit'>,
    active: readonly Pod[],
  ) {
    const swap = swapRules(options, cgroups, memory);
    this.#participants = participants;
    this.#active = active;
    const ignored = (): void => {};
    this.#allocations = new PodAllocations({
      node: node.known(),
      staticCpus: options.cpuManagerPolicy === 'static',
      staticMemory: options.memoryManagerPolicy === 'Static',
      swaps: (pod, container) => mayUseSwap(pod, container, swap),
      preempt: (pod) => this.#victims.push(pod),
      event: ignored,
      accepted: ignored,
      infeasible: ignored,
      changed: ignored,
    });
    for (const pod of active) {
      // Less than it asks for, where a resize waits.
      const given = allocations.allocationOf(pod.metadata.uid);
      if (given) this.#allocations.restore(pod.metadata.uid, given);
      else this.#allocations.adopt(pod);
    }
  }

  /** These pods are no more. */
  leave(uids: readonly PodUid[]): void {
    const gone = new Set(uids);
    this.#active = this.#active.filter(({ metadata }) => !gone.has(metadata.uid));
    for (const uid of uids) this.#allocations.forget(uid);
  }

  /** The pod asks for what it is now declared with. */
  resize(pod: Pod): void {
    const { uid } = pod.metadata;
    if (!this.#active.some(({ metadata }) => metadata.uid === uid) || !this.#allocations.differs(pod)) return;
    this.#active = this.#active.map((each) => (each.metadata.uid === uid ? pod : each));
    this.#victims = [];
    this.#allocations.push(uid, this.#active);
    this.#allocations.retry(this.#active);
    this.#preempt(this.#victims, pod);
    const pending = this.#allocations.conditionsOf(uid).find(({ type }) => type === 'PodResizePending');
    if (pending) this.#resizes.set(uid, `${pending.reason}: ${pending.message}`);
  }

  /** The pod with what it would be given in place of what it asks for; itself where that is the same. */
  allocated(pod: Pod): Pod {
    return this.#allocations.allocatedPod(pod);
  }

  /** Asks whether the pod may begin beside all that are here by then. */
  async admit(pod: Pod, signal: AbortSignal): Promise<void> {
    const use = (this.#use ??= new NodeUse(this.#active.map((each) => this.allocated(each))));
    const refusal = await this.#participants.wouldAdmit(pod, use, signal);
    if (refusal) {
      const room = refusal.lacking && isCriticalPod(pod) ? roomFor(pod, use.pods, refusal.lacking) : refusal;
      if (!('preempted' in room)) {
        this.#refused.set(pod.metadata.uid, room);
        return;
      }
      this.#preempt(room.preempted, pod);
    }
    use.add(pod);
  }

  /** The changes with what was found out here. */
  judged({ pods, objects }: PlannedChanges, then: DeclaredManifests['pods']): PlannedChanges {
    const judged = pods.map((planned): PlannedPod => {
      const pod = planned.consequence === 'refused' ? undefined : then.get(planned.pod)?.pod;
      return pod ? this.#judged(planned, pod) : planned;
    });
    const uids = new Set([...then.values()].map(({ pod }) => pod.metadata.uid));
    const others = [...this.#preempted.values()].filter(({ pod }) => !uids.has(pod.metadata.uid));
    return { pods: [...judged, ...others.map(({ pod, by }) => plannedEnd(showPod(pod), '', preemption(by)))], objects };
  }

  #judged(planned: PlannedPod, pod: Pod): PlannedPod {
    const { uid } = pod.metadata;
    const refusal = this.#refused.get(uid);
    const by = this.#preempted.get(uid)?.by;
    const waits = this.#resizes.get(uid);
    if (by) return { ...planned, ...plannedEnd(planned.pod, planned.file, preemption(by)), changes: planned.changes };
    if (refusal) {
      const why = `it may not run here: ${refusal.reason}: ${refusal.message}`;
      const stops = planned.consequence === 'recreate';
      return { ...planned, consequence: stops ? 'stop' : 'refused', because: stops ? [`${planned.because[0]}`, why] : [why] };
    }
    if (waits === undefined) return planned;
    const isAll = planned.consequence === 'in place' && planned.containers.length === 0;
    return { ...planned, ...(isAll && { consequence: 'nothing' }), because: [`it keeps the resources that it has: ${waits}`] };
  }

  #preempt(victims: readonly Pod[], by: Pod): void {
    for (const pod of victims) {
      this.#preempted.set(pod.metadata.uid, { pod, by });
      this.#use?.remove(pod.metadata.uid);
    }
    const gone = new Set(victims.map(({ metadata }) => metadata.uid));
    this.#active = this.#active.filter(({ metadata }) => !gone.has(metadata.uid));
  }
}

const preemption = (by: Pod): string => `it is preempted, ended to make room for ${showPod(by)}`;

export const plannedEnd = (pod: string, file: string, why: string): PlannedPod => ({
  pod,
  file,
  consequence: 'stop',
  containers: [],
  because: [why],
  changes: [],
  moreChanges: 0,
});
