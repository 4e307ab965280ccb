import type { Clock } from '../../base/clock.ts';
import { effectiveResources, type ResizableResource } from '../../model/effective-resources.ts';
import { type Allocation, type AllocationRules, PodAllocations } from '../../model/pod-allocations.ts';
import type { Container, Pod, PodCondition, PodSpec, PodUid } from '../../model/pod.ts';
import { Quantity } from '../../model/quantity.ts';
import type { ObservedContainer, ObservedPod } from '../../ports/container-runtime.ts';
import type { ActuatedResources } from '../../ports/pod-plan.ts';
import type { Happenings, ResizeTrigger } from '../../ports/happenings.ts';
import type { PodAllocationsReader } from '../../ports/pod-allocations.ts';
import type { PodStatuses } from '../../ports/pod-statuses.ts';
import type { PodStore } from '../../ports/pod-store.ts';
import type { WakePod } from '../../ports/wake-pod.ts';
import { adoptedResources } from './adopted-resources.ts';
import { isRunning } from './instances.ts';
import { isResized } from './resize-actions.ts';
import type { ResourceRecords } from './resource-records.ts';

type Requirements = NonNullable<PodSpec['resources']>;

export interface PodResizesDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly pods: Pick<PodStore, 'get' | 'synced'>;
  readonly statuses: Pick<PodStatuses, 'before'>;
  readonly records: ResourceRecords;
  readonly rules: Omit<AllocationRules, 'changed' | 'accepted' | 'infeasible'>;
  readonly tell: Pick<Happenings, 'deferredResizeAccepted' | 'resizeInfeasible'>;
  readonly wake: WakePod;
}

/** How often a resize that waits is tried again though nothing was seen to be freed: the node may have grown (retryDelay in pkg/kubelet/allocation). */
const RETRY_MS = 180_000;

/** What a pod was seen with. */
interface Known {
  /** By container: what it was last made with, or changed to. */
  readonly actuated: Map<string, Requirements>;
  /** What it asked for when that was last decided about. */
  tried: { readonly spec: PodSpec; readonly atMs: number } | undefined;
  /** What made it worth trying again since. */
  freedBy: ResizeTrigger;
  /** The conditions that were shown before this agent began have been taken over. */
  met: boolean;
}

/**
 * What pods and their containers were given of the node's resources, on its way from what they ask for to what they run with: allocated once
 * there is room, then actuated. Kept over restarts of the agent.
 *
 * INVARIANT: a pod is worked on with what it was allocated.
 */
export class PodResizes implements PodAllocationsReader {
  readonly #deps: PodResizesDeps;
  readonly #allocations: PodAllocations;
  readonly #known = new Map<PodUid, Known>();
  /** Who is looked at while it is decided, which need not be woken, and why all that wait are tried then. */
  #asker: { readonly uid: PodUid; readonly trigger: ResizeTrigger } | undefined;

  constructor(deps: PodResizesDeps) {
    this.#deps = deps;
    const { rules } = deps;
    this.#allocations = new PodAllocations({
      get node() {
        return rules.node;
      },
      staticCpus: rules.staticCpus,
      staticMemory: rules.staticMemory,
      swaps: rules.swaps,
      preempt: rules.preempt,
      event: rules.event,
      accepted: ({ metadata: { uid } }) => {
        if (this.#asker) deps.tell.deferredResizeAccepted({ uid, trigger: this.#asker.trigger });
      },
      infeasible: ({ metadata: { uid } }, detail) => deps.tell.resizeInfeasible({ uid, detail }),
      changed: ({ metadata: { uid } }) => {
        if (uid !== this.#asker?.uid) deps.wake(uid, 'resources changed');
      },
    });
  }

  /** The pod with what it was given in place of what it asks for. */
  allocated(pod: Pod): Pod {
    this.#of(pod.metadata.uid);
    return this.#allocations.allocatedPod(pod);
  }

  allocationOf(uid: PodUid): Allocation | undefined {
    return this.#allocations.allocationOf(uid);
  }

  /** The pod may run here: what it asks for is its own, unless it was given something before. */
  admitted(pod: Pod): void {
    this.#of(pod.metadata.uid);
    this.#allocations.adopt(pod);
  }

  /** Whether it is to be decided if the pod may have what it asks for now. */
  isToDecide(uid: PodUid): boolean {
    const { pods, clock } = this.#deps;
    const pod = pods.get(uid)?.pod;
    if (!pod || !pods.synced) return false;
    this.#meet(pod);
    if (this.#allocations.allocationOf(uid) === undefined) return false;
    const pending = this.#pendingReason(uid);
    const tried = this.#known.get(uid)?.tried;
    if (tried?.spec === pod.spec && (pending !== 'Deferred' || clock.monotonicMs() - tried.atMs < RETRY_MS)) return false;
    return pending !== undefined || this.#allocations.differs(pod);
  }

  /**
   * Decides about this pod and all that wait for room, beside the `active` ones: those that were admitted and are not over, as they are
   * declared. Returns those that were given something else.
   */
  decide(uid: PodUid, active: readonly Pod[]): readonly PodUid[] {
    const { clock, pods } = this.#deps;
    for (const pod of active) this.#of(pod.metadata.uid);
    this.#allocations.push(uid, active);
    const before = this.#allocations.waiting.map((one) => [one, this.#allocations.allocationOf(one)] as const);
    this.#asker = { uid, trigger: this.#triggerOf(uid) };
    try {
      this.#allocations.retry(active);
    } finally {
      this.#asker = undefined;
    }
    for (const [one] of before) {
      const spec = pods.get(one)?.pod.spec;
      if (spec) this.#of(one).tried = { spec, atMs: clock.monotonicMs() };
    }
    const changed = before.filter(([one, allocation]) => this.#allocations.allocationOf(one) !== allocation).map(([one]) => one);
    for (const one of changed) this.#save(one);
    return changed;
  }

  /** Why the pod was not given what it asks for; undefined: it was. */
  refusalOf(uid: PodUid): string | undefined {
    const pending = this.#pending(uid);
    return pending && `${pending.reason}: ${pending.message}`;
  }

  /** Something of the node's resources is free again: what waits is tried once more. */
  freed(by: 'pods_removed' | 'pod_terminated'): void {
    for (const uid of this.#allocations.waiting) {
      const known = this.#of(uid);
      known.tried = undefined;
      known.freedBy = by;
      this.#deps.wake(uid, 'resources freed');
    }
  }

  /** What the pod's containers were last given. */
  actuated(uid: PodUid): ActuatedResources {
    const { actuated } = this.#of(uid);
    return { container: (name) => actuated.get(name), pod: undefined };
  }

  /**
   * Takes a look at a pod that was admitted: whether all that it was given has been brought about. Returns it with the memory that its
   * containers asked for when they were last given some, which no engine knows.
   */
  look(pod: Pod, observed: ObservedPod): ObservedPod {
    const { uid } = pod.metadata;
    const known = this.#meet(pod);
    this.#allocations.adopt(pod);
    const running = resizable(pod).flatMap((container) => {
      const newest = observed.containers.find(({ name }) => name === container.name);
      return newest && isRunning(newest) ? [{ container, newest }] : [];
    });
    const unknown = running.filter(({ container }) => !known.actuated.has(container.name));
    for (const { container, newest } of unknown) known.actuated.set(container.name, adoptedResources(pod, container, newest));
    if (unknown.length > 0) this.#save(uid);
    const actuated = this.actuated(uid);
    this.#allocations.actuated(pod, !running.some(({ container }) => isResized(pod, container, actuated)));
    return { ...observed, containers: observed.containers.map((one) => withMemoryRequest(one, known.actuated.get(one.name))) };
  }

  /** The container is about to be made. */
  started(pod: Pod, container: Container): void {
    this.#of(pod.metadata.uid).actuated.set(container.name, effectiveResources(pod, container));
    this.#save(pod.metadata.uid);
  }

  /** The container has what it was allocated of this. */
  updated(pod: Pod, container: Container, resource: ResizableResource): void {
    const { actuated } = this.#of(pod.metadata.uid);
    const { requests, limits } = effectiveResources(pod, container);
    const before = actuated.get(container.name);
    actuated.set(container.name, {
      requests: replaced(before?.requests, requests, resource),
      limits: replaced(before?.limits, limits, resource),
    });
    this.#save(pod.metadata.uid);
  }

  /** A container could not be given what it was allocated. */
  failed(pod: Pod, message: string): void {
    this.#allocations.failed(pod, message);
  }

  /** PodResizePending and PodResizeInProgress, as far as they hold. */
  conditionsOf(uid: PodUid): readonly PodCondition[] {
    return this.#allocations.conditionsOf(uid);
  }

  /** See PodRecords. */
  settled(uid: PodUid, signal: AbortSignal): Promise<void> {
    return this.#deps.records.settled(uid, signal);
  }

  /** Nothing of the pod is left. */
  forget(uid: PodUid): void {
    this.#allocations.forget(uid);
    this.#known.delete(uid);
    this.#deps.records.forget(uid);
    this.freed('pods_removed');
  }

  /** Why the pod is decided about now. */
  #triggerOf(uid: PodUid): ResizeTrigger {
    const { tried, freedBy } = this.#of(uid);
    if (tried === undefined) return freedBy;
    return tried.spec === this.#deps.pods.get(uid)?.pod.spec ? 'periodic_retry' : 'pod_updated';
  }

  #pending(uid: PodUid): PodCondition | undefined {
    return this.#allocations.conditionsOf(uid).find(({ type }) => type === 'PodResizePending');
  }

  #pendingReason(uid: PodUid): string | undefined {
    return this.#pending(uid)?.reason;
  }

  /** The first time, what was shown of it before this agent began is taken over. */
  #meet(pod: Pod): Known {
    const known = this.#of(pod.metadata.uid);
    if (!known.met) this.#allocations.backfill({ ...pod, status: this.#deps.statuses.before(pod) ?? {} });
    known.met = true;
    return known;
  }

  #of(uid: PodUid): Known {
    let known = this.#known.get(uid);
    if (known === undefined) {
      const record = this.#deps.records.load(uid);
      if (record) this.#allocations.restore(uid, record.allocation);
      known = { actuated: new Map(record?.actuated), tried: undefined, freedBy: 'pods_added', met: false };
      this.#known.set(uid, known);
    }
    return known;
  }

  #save(uid: PodUid): void {
    const allocation = this.#allocations.allocationOf(uid);
    if (allocation) this.#deps.records.save(uid, { allocation, actuated: this.#of(uid).actuated });
  }
}

const resizable = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers];

function replaced(
  before: Requirements['limits'],
  now: Requirements['limits'],
  resource: ResizableResource,
): NonNullable<Requirements['limits']> {
  const { [resource]: _before, ...others } = before ?? {};
  const amount = now?.[resource];
  return { ...others, ...(amount !== undefined && { [resource]: amount }) };
}

function withMemoryRequest(container: ObservedContainer, actuated: Requirements | undefined): ObservedContainer {
  const asked = actuated?.requests?.['memory'];
  return asked === undefined ? container : { ...container, resources: { ...container.resources, memoryRequest: Quantity.fromJson(asked) } };
}
