import { isCriticalPod } from './critical-pod.ts';
import type { InsufficientResource } from './node-fit.ts';
import { NodeUse } from './node-use.ts';
import type { Node } from './node.ts';
import { fitPod } from './fit-pod.ts';
import type { PodRefusal } from './pod-admission.ts';
import { podRequests } from './pod-resources.ts';
import type { Container, Pod, PodCondition, PodSpec, PodUid } from './pod.ts';
import { roomFor } from './room-for.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';
import { ResizeConditions } from './resize-conditions.ts';
import { resizeSummary } from './resize-summary.ts';

type Requirements = NonNullable<PodSpec['resources']>;
type Amounts = Requirements['limits'];

/** pkg/kubelet/events */
export type ResizeEventReason = 'ResizeStarted' | 'ResizeDeferred' | 'ResizeInfeasible' | 'ResizeCompleted' | 'ResizeError';

/** Why a resize cannot be done in place, however much room there is, as metrics name it (pkg/kubelet/allocation). */
export type InfeasibleDetail =
  | 'swap_limitation'
  | 'guaranteed_pod_cpu_manager_static_policy'
  | 'guaranteed_pod_memory_manager_static_policy';

/** What a pod was given: by container, and as a whole. */
export interface Allocation {
  readonly pod: Requirements | undefined;
  readonly containers: ReadonlyMap<string, Requirements>;
}

export interface AllocationRules {
  readonly node: Node;
  /** cpuManagerPolicy static: Guaranteed pods have CPUs of their own. */
  readonly staticCpus: boolean;
  /** memoryManagerPolicy Static */
  readonly staticMemory: boolean;
  /** Whether a container may use swap, which a resize would have to count again. */
  readonly swaps: (pod: Pod, container: Container) => boolean;
  /** A pod must end so that a critical one finds what was lacking. */
  readonly preempt: (pod: Pod, lacking: readonly InsufficientResource[]) => void;
  readonly event: (pod: Pod, type: 'Normal' | 'Warning', reason: ResizeEventReason, message: string) => void;
  /** A resize that was deferred waits no more: the pod has what it asks for. */
  readonly accepted: (pod: Pod) => void;
  readonly infeasible: (pod: Pod, detail: InfeasibleDetail) => void;
  /** The pod's resources, or what is said of its resize, have changed. */
  readonly changed: (pod: Pod) => void;
}

/**
 * What pods were given of the node's resources, and the resizes that wait for room (pkg/kubelet/allocation). A pod keeps what it was given until
 * its resize is admitted: resizes that ask for no more first, then by priority, Guaranteed, longest waiting.
 *
 * INVARIANT: a resize waits once.
 */
export class PodAllocations {
  readonly #rules: AllocationRules;
  readonly #allocated = new Map<PodUid, Allocation>();
  readonly #conditions = new ResizeConditions();
  /** Specs that ask for what was allocated: looked at again and again. */
  readonly #same = new WeakMap<PodSpec, Allocation>();
  #queue: readonly PodUid[] = [];

  constructor(rules: AllocationRules) {
    this.#rules = rules;
  }

  /** The resizes that wait, in the order in which they are tried. */
  get waiting(): readonly PodUid[] {
    return this.#queue;
  }

  allocationOf(uid: PodUid): Allocation | undefined {
    return this.#allocated.get(uid);
  }

  /** PodResizePending and PodResizeInProgress, as far as they hold. */
  conditionsOf(uid: PodUid): readonly PodCondition[] {
    return this.#conditions.of(uid);
  }

  /** What was given before this agent began. */
  restore(uid: PodUid, allocation: Allocation): void {
    this.#allocated.set(uid, allocation);
  }

  /** The conditions that were shown before this agent began. */
  backfill(pod: Pod): void {
    this.#conditions.backfill(pod);
  }

  /** The pod may run here: what it asks for is its own, unless it was given something before. */
  adopt(pod: Pod): void {
    if (!this.#allocated.has(pod.metadata.uid)) this.#allocate(pod);
  }

  /** Whether the pod, with what it was given, runs with that by now: a resize is in progress until then. */
  actuated(pod: Pod, isSo: boolean): void {
    const { uid } = pod.metadata;
    if (!isSo) return this.#conditions.begun(pod);
    const generation = this.#conditions.completed(uid);
    if (generation !== undefined)
      this.#rules.event(pod, 'Normal', 'ResizeCompleted', `Pod resize completed: ${resizeSummary(pod, generation)}`);
  }

  /** What the pod was given could not be brought about. */
  failed(pod: Pod, message: string): void {
    const { generation, isNews } = this.#conditions.failed(pod, message);
    if (isNews) this.#rules.event(pod, 'Warning', 'ResizeError', `Pod resize error: ${resizeSummary(pod, generation, message)}`);
  }

  /** Whether the pod may begin here; if so, what it asks for is its own. `active`: pods that were admitted, and this one or not. */
  add(pod: Pod, active: readonly Pod[]): PodRefusal | undefined {
    const known = this.allocatedPod(pod);
    const refusal = this.#admit(known, active);
    if (refusal === undefined) this.#allocate(known);
    return refusal;
  }

  remove(uid: PodUid): void {
    this.#allocated.delete(uid);
    this.#conditions.forget(uid);
  }

  /** As `remove`; it waits for nothing any more. */
  forget(uid: PodUid): void {
    this.remove(uid);
    this.#queue = this.#queue.filter((one) => one !== uid);
  }

  /** The pod asks for other resources. */
  push(uid: PodUid, active: readonly Pod[]): void {
    if (this.#queue.includes(uid)) return;
    this.#queue = [...this.#queue, uid];
    this.#sort(active);
  }

  /** Tries every resize that waits; says of which pods none is left to do. */
  retry(active: readonly Pod[]): readonly Pod[] {
    const waiting: PodUid[] = [];
    const done: Pod[] = [];
    for (const uid of this.#queue) {
      const pod = active.find(({ metadata }) => metadata.uid === uid);
      if (pod === undefined) continue;
      const before = this.#conditions.pending(uid)?.reason;
      const tried = this.#resize(pod, active);
      const reason = this.#conditions.pending(uid)?.reason;
      if (reason === 'Deferred') waiting.push(uid);
      else if (reason === undefined) done.push(pod);
      if (before === 'Deferred' && reason === undefined) this.#rules.accepted(pod);
      if (tried || before !== undefined) this.#rules.changed(pod);
    }
    this.#queue = waiting;
    return done;
  }

  /** The pod with the resources that it was given instead of those that it asks for. */
  allocatedPod(pod: Pod): Pod {
    const given = this.#allocated.get(pod.metadata.uid);
    if (given === undefined || !this.differs(pod)) return pod;
    const { resources: _asked, ...spec } = pod.spec;
    const own = (container: Container): Container => {
      const resources = given.containers.get(container.name);
      return resources === undefined ? container : { ...container, resources };
    };
    return {
      ...pod,
      spec: {
        ...spec,
        ...(given.pod && { resources: given.pod }),
        containers: spec.containers.map(own),
        ...(spec.initContainers && { initContainers: spec.initContainers.map(own) }),
      },
    };
  }

  /** Whether the pod asks for other resources than it was given. */
  differs(pod: Pod): boolean {
    const given = this.#allocated.get(pod.metadata.uid);
    if (given === undefined || this.#same.get(pod.spec) === given) return false;
    const differs = this.#isOther(pod, given);
    if (!differs) this.#same.set(pod.spec, given);
    return differs;
  }

  #isOther(pod: Pod, given: Allocation): boolean {
    const isOther = ({ name, resources }: Container): boolean => !same(resources, given.containers.get(name));
    if ((pod.spec.resources === undefined) !== (given.pod === undefined) || !same(pod.spec.resources, given.pod)) return true;
    return resizable(pod).some((container) => given.containers.has(container.name) && isOther(container));
  }

  #allocate(pod: Pod): void {
    const containers = new Map(resizable(pod).map(({ name, resources }) => [name, resources ?? {}]));
    this.#allocated.set(pod.metadata.uid, { pod: pod.spec.resources, containers });
  }

  /** Whether there was a resize to try: the condition says when it was last tried. */
  #resize(pod: Pod, active: readonly Pod[]): boolean {
    const { uid, generation = 0 } = pod.metadata;
    if (!this.differs(pod)) {
      this.#conditions.settled(uid);
      return false;
    }
    const refusal = this.#infeasible(pod) ?? this.#admit(pod, active);
    if (refusal === undefined) {
      this.#allocate(pod);
      this.#conditions.allocated(pod);
      this.#rules.event(pod, 'Normal', 'ResizeStarted', `Pod resize started: ${resizeSummary(pod, generation)}`);
      return true;
    }
    const { reason, message } = refusal;
    if ('detail' in refusal) this.#rules.infeasible(pod, refusal.detail);
    const shown = reason === 'Infeasible' ? reason : 'Deferred';
    if (this.#conditions.refused(pod, shown, message)) {
      this.#rules.event(pod, 'Warning', `Resize${shown}`, `Pod resize ${reason}: ${resizeSummary(pod, generation, message)}`);
    }
    return true;
  }

  /** What cannot be done in place, however much room there is. */
  #infeasible(pod: Pod): Infeasible | undefined {
    const { staticCpus, staticMemory, swaps } = this.#rules;
    const refuse = (detail: InfeasibleDetail, message: string): Infeasible => ({ reason: 'Infeasible', message, detail });
    const given = this.allocatedPod(pod);
    const before = new Map(resizable(given).map((container) => [container.name, container]));
    const changes = (name: string): readonly (readonly [Container, Container])[] =>
      resizable(pod).flatMap((container) => {
        const old = before.get(container.name);
        const [now, then] = [container, old].map((one) => Quantity.fromJson(one?.resources?.requests?.[name]));
        return old && now && then && now.cmp(then) !== 0 ? [[container, old] as const] : [];
      });
    const restarts = ({ resizePolicy = [] }: Container): boolean =>
      resizePolicy.find(({ resourceName }) => resourceName === 'memory')?.restartPolicy === 'RestartContainer';
    if (changes('memory').some(([now, then]) => !restarts(then) && (swaps(pod, now) || swaps(given, then)))) {
      return refuse('swap_limitation', 'In-place resize of containers with swap is not supported.');
    }
    if ((pod.status?.qosClass || podQosClass(pod)) !== 'Guaranteed') return undefined;
    const alongside = (policy: string): string => `Resize is infeasible for Guaranteed Pods alongside ${policy}`;
    if (staticCpus && changes('cpu').length > 0)
      return refuse('guaranteed_pod_cpu_manager_static_policy', alongside('CPU Manager policy "static"'));
    if (staticMemory && changes('memory').length > 0)
      return refuse('guaranteed_pod_memory_manager_static_policy', alongside('Memory Manager policy "Static"'));
    return undefined;
  }

  /** Undefined: it fits beside what the others were given. A critical pod has others preempted. */
  #admit(pod: Pod, active: readonly Pod[]): PodRefusal | undefined {
    const { node, preempt } = this.#rules;
    const others = active.filter(({ metadata }) => metadata.uid !== pod.metadata.uid).map((other) => this.allocatedPod(other));
    const otherPods = new NodeUse(others);
    const refusal = fitPod({ pod, otherPods, node });
    if (!refusal?.lacking || !isCriticalPod(pod)) return refusal;
    const room = roomFor(pod, active, refusal.lacking);
    if (!('preempted' in room)) return room;
    for (const other of room.preempted) preempt(other, refusal.lacking);
    return undefined;
  }

  /** By insertion, as Go sorts so few: the order is not symmetric. */
  #sort(active: readonly Pod[]): void {
    const pods = this.#queue.flatMap((uid) => active.find(({ metadata }) => metadata.uid === uid) ?? []);
    const sorted: Pod[] = [];
    for (const pod of pods) {
      let at = sorted.length;
      for (let before = sorted[at - 1]; before !== undefined && this.#goesBefore(pod, before); before = sorted[at - 1]) at--;
      sorted.splice(at, 0, pod);
    }
    this.#queue = sorted.map(({ metadata }) => metadata.uid);
  }

  #goesBefore(pod: Pod, other: Pod): boolean {
    if (!this.#grows(pod)) return true;
    if (!this.#grows(other)) return false;
    const [own, its] = [pod.spec.priority ?? 0, other.spec.priority ?? 0];
    if (own !== its) return own > its;
    const [guaranteed, otherGuaranteed] = [pod, other].map((one) => (one.status?.qosClass || podQosClass(one)) === 'Guaranteed');
    if (guaranteed !== otherGuaranteed) return guaranteed === true;
    const since = this.#conditions.pending(pod.metadata.uid)?.since;
    const otherSince = this.#conditions.pending(other.metadata.uid)?.since;
    return since !== undefined && (otherSince === undefined || since < otherSince);
  }

  #grows(pod: Pod): boolean {
    if (!this.differs(pod)) return false;
    const before = podRequests(this.allocatedPod(pod));
    const now = podRequests(pod);
    return ['memory', 'cpu'].some((name) => (now.get(name) ?? Quantity.zero).cmp(before.get(name) ?? Quantity.zero) > 0);
  }
}

interface Infeasible {
  readonly reason: 'Infeasible';
  readonly message: string;
  readonly detail: InfeasibleDetail;
}

const resizable = ({ spec }: Pod): readonly Container[] => [...spec.containers, ...(spec.initContainers ?? [])];

function same(one: Requirements | undefined, other: Requirements | undefined): boolean {
  return (
    sameAmounts(one?.limits, other?.limits) &&
    sameAmounts(one?.requests, other?.requests) &&
    JSON.stringify(one?.claims ?? []) === JSON.stringify(other?.claims ?? [])
  );
}

function sameAmounts(one: Amounts = {}, other: Amounts = {}): boolean {
  const names = Object.keys(one);
  const isSame = (name: string): boolean =>
    Object.hasOwn(other, name) && Quantity.fromJson(one[name]).cmp(Quantity.fromJson(other[name])) === 0;
  return names.length === Object.keys(other).length && names.every(isSame);
}
