import { type CpuSet, formatCpuSet, sameCpus } from '../../model/cpu-set.ts';
import { nodesOf, type NumaMask } from '../../model/numa-mask.ts';
import type { PodRefusal } from '../../model/pod-admission.ts';
import { isSidecar } from '../../model/pod-predicates.ts';
import type { Container, Pod, PodUid } from '../../model/pod.ts';
import type { TopologyHint, TopologyHints } from '../../model/topology-hint.ts';
import type { MachineTopology } from '../machine-topology.ts';
import { allocationFailed } from '../../model/allocation-failed.ts';
import { cpuHints, socketsOf } from './cpu-hints.ts';
import type { CpuPolicyOptions } from '../../model/cpu-policy-options.ts';
import { guaranteedCpus, podGuaranteedCpus } from '../../model/guaranteed-cpus.ts';
import { NotEnoughCpusError, takeCpus } from './take-cpus.ts';

/** Who has which CPUs. */
export interface CpuAssignments {
  /** Of all that have none for themselves. */
  readonly shared: CpuSet;
  readonly exclusive: ReadonlyMap<PodUid, ReadonlyMap<string, CpuSet>>;
}

export interface CpuAllocationsDeps {
  readonly machine: MachineTopology;
  /** Never given to one container alone. */
  readonly reserved: CpuSet;
  readonly options: CpuPolicyOptions;
  /** What was assigned before; see cpuAssignmentsFault. Undefined: nothing. */
  readonly restored?: CpuAssignments | undefined;
}

const none: CpuSet = new Set();

/**
 * CPUs of containers that have some for themselves; all others share the rest (staticPolicy in pkg/kubelet/cm/cpumanager).
 *
 * INVARIANT: no CPU is shared and exclusive, and none is exclusive to two pods.
 */
export class CpuAllocations {
  readonly #machine: MachineTopology;
  readonly #reserved: CpuSet;
  /** With the other threads of the same cores. */
  readonly #reservedCores: CpuSet;
  readonly #options: CpuPolicyOptions;
  #shared: CpuSet;
  readonly #exclusive: Map<PodUid, Map<string, CpuSet>>;
  /** Of init containers that will have ended, of the pod that is being allocated for. */
  #reusable: { readonly uid: PodUid; readonly cpus: CpuSet } | undefined;

  constructor({ machine, reserved, options, restored }: CpuAllocationsDeps) {
    this.#machine = machine;
    this.#reserved = reserved;
    this.#reservedCores = new Set([...reserved].flatMap((cpu) => [...machine.cpusIn('core', machine.placeOf(cpu).core)]));
    this.#options = options;
    this.#shared = restored?.shared ?? initiallyShared(machine, reserved, options);
    this.#exclusive = new Map([...(restored?.exclusive ?? [])].map(([uid, containers]) => [uid, new Map(containers)]));
  }

  get assignments(): CpuAssignments {
    return { shared: this.#shared, exclusive: this.#exclusive };
  }

  /** Where containers run that have none for themselves: where nothing is left for them, on what is reserved. */
  get shared(): CpuSet {
    return this.#shared.size === 0 ? this.#reserved : this.#shared;
  }

  /** From which containers can have some for themselves. */
  get available(): CpuSet {
    return this.#shared.difference(this.#reserved);
  }

  /** All that are some container's alone. */
  get exclusive(): CpuSet {
    return new Set([...this.#exclusive.values()].flatMap((containers) => [...containers.values()].flatMap((cpus) => [...cpus])));
  }

  /** Their number, by NUMA node. */
  get exclusivePerNode(): ReadonlyMap<number, number> {
    const { exclusive } = this;
    return new Map(this.#machine.idsOf('node').map((node) => [node, this.#machine.cpusIn('node', node).intersection(exclusive).size]));
  }

  get uids(): Iterable<PodUid> {
    return this.#exclusive.keys();
  }

  /** The container's own; undefined: it runs on the shared ones. */
  exclusiveOf(uid: PodUid, container: string): CpuSet | undefined {
    return this.#exclusive.get(uid)?.get(container);
  }

  hints(pod: Pod, container: Container): TopologyHints {
    const count = guaranteedCpus(pod, container);
    if (count === 0) return new Map();
    const { uid } = pod.metadata;
    const own = this.exclusiveOf(uid, container.name);
    if (own) return new Map([['cpu', own.size === count ? this.#hints(own, none, count) : []]]);
    return new Map([['cpu', this.#hints(this.available, this.#reusableOf(uid), count)]]);
  }

  podHints(pod: Pod): TopologyHints {
    const count = podGuaranteedCpus(pod);
    if (count === 0) return new Map();
    const { uid } = pod.metadata;
    let assigned: CpuSet = none;
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      const own = this.exclusiveOf(uid, container.name);
      if (own && own.size !== guaranteedCpus(pod, container)) return new Map([['cpu', []]]);
      if (own) assigned = assigned.union(own);
    }
    if (assigned.size === count) return new Map([['cpu', this.#hints(assigned, none, count)]]);
    return new Map([['cpu', this.#hints(this.available, this.#reusableOf(uid).union(assigned), count)]]);
  }

  /** Gives the container its own CPUs where it is to have some, from these nodes first. What it has already stays. */
  allocate(pod: Pod, container: Container, { nodes }: TopologyHint): PodRefusal | undefined {
    const count = guaranteedCpus(pod, container);
    if (count === 0) return undefined;
    const { uid } = pod.metadata;
    const before = this.exclusiveOf(uid, container.name);
    if (before) {
      this.#noteReusable(pod, container, before);
      return undefined;
    }
    const misaligned = this.#threadsFault(count);
    if (misaligned) return misaligned;
    let cpus: CpuSet;
    try {
      cpus = this.#choose(count, nodes, this.#reusableOf(uid));
    } catch (error) {
      if (error instanceof NotEnoughCpusError) return allocationFailed(error.message);
      throw error;
    }
    this.#shared = this.#shared.difference(cpus);
    const containers = this.#exclusive.get(uid) ?? new Map<string, CpuSet>();
    this.#exclusive.set(uid, containers.set(container.name, cpus));
    this.#noteReusable(pod, container, cpus);
    return undefined;
  }

  /** What the pod has goes back to the shared ones. Returns whether it had any. */
  release(uid: PodUid): boolean {
    const containers = this.#exclusive.get(uid);
    if (this.#reusable?.uid === uid) this.#reusable = undefined;
    if (!containers) return false;
    this.#exclusive.delete(uid);
    for (const cpus of containers.values()) this.#shared = this.#shared.union(cpus);
    return true;
  }

  #hints(available: CpuSet, reusable: CpuSet, count: number): readonly TopologyHint[] {
    return cpuHints(this.#machine, { available, reusable, count, alignBySocket: this.#options.alignBySocket });
  }

  #reusableOf(uid: PodUid): CpuSet {
    return this.#reusable?.uid === uid ? this.#reusable.cpus : none;
  }

  #noteReusable({ metadata: { uid }, spec }: Pod, { name }: Container, cpus: CpuSet): void {
    const init = spec.initContainers?.find((each) => each.name === name);
    const reusable = this.#reusableOf(uid);
    this.#reusable = { uid, cpus: init && !isSidecar(init) ? reusable.union(cpus) : reusable.difference(cpus) };
  }

  /** full-pcpus-only: a container has whole cores, none of which holds a reserved thread. */
  #threadsFault(count: number): PodRefusal | undefined {
    if (!this.#options.fullPcpusOnly) return undefined;
    const perCore = this.#machine.cpusPer('core');
    if (count % perCore !== 0) return smtAlignmentError(`requested ${count} cpus not multiple cpus per core = ${perCore}`);
    const left = this.#shared.difference(this.#reservedCores).size;
    if (count <= left) return undefined;
    const amounts = `available physical CPUs = ${left}, requested CPUs = ${count}, CPUs per core = ${perCore}`;
    return smtAlignmentError(`not enough free physical CPUs: ${amounts}`);
  }

  #choose(count: number, nodes: NumaMask | undefined, reusable: CpuSet): CpuSet {
    const free = this.available.union(reusable);
    const near = nodes === undefined ? none : this.#near(nodes, free);
    const chosen = takeCpus(this.#machine, near, Math.min(count, near.size), this.#options);
    return chosen.union(takeCpus(this.#machine, free.difference(chosen), count - chosen.size, this.#options));
  }

  #near(nodes: NumaMask, free: CpuSet): CpuSet {
    const level = this.#options.alignBySocket ? 'socket' : 'node';
    const ids = level === 'socket' ? socketsOf(this.#machine, nodes) : nodesOf(nodes);
    return new Set(ids.flatMap((id) => [...this.#machine.cpusIn(level, id).intersection(free)]));
  }
}

const smtAlignmentError = (message: string): PodRefusal => ({ reason: 'SMTAlignmentError', message: `SMT Alignment Error: ${message}` });

function initiallyShared(machine: MachineTopology, reserved: CpuSet, { strictCpuReservation }: CpuPolicyOptions): CpuSet {
  return strictCpuReservation ? machine.cpus.difference(reserved) : machine.cpus;
}

/**
 * Why what was assigned before cannot be gone on with on this machine under these options; undefined: it can
 * (staticPolicy.validateState, with two containers of different pods on one CPU besides).
 */
export function cpuAssignmentsFault({ shared, exclusive }: CpuAssignments, deps: Omit<CpuAllocationsDeps, 'restored'>): string | undefined {
  const { machine, reserved, options } = deps;
  // Under strict-cpu-reservation a kubelet hands out the last one, too, and then does not start again.
  if (shared.size === 0 && !options.strictCpuReservation) return 'default cpuset cannot be empty';
  const both = reserved.intersection(shared);
  if (options.strictCpuReservation && both.size > 0)
    return `some of strictly reserved cpus: "${formatCpuSet(both)}" are present in defaultCpuSet: "${formatCpuSet(shared)}"`;
  if (!options.strictCpuReservation && both.size < reserved.size)
    return `not all reserved cpus: "${formatCpuSet(reserved)}" are present in defaultCpuSet: "${formatCpuSet(shared)}"`;
  let known = shared;
  for (const [uid, containers] of exclusive) {
    let own: CpuSet = none;
    for (const [name, cpus] of containers) {
      if (!cpus.isDisjointFrom(shared))
        return `pod: ${uid}, container: ${name} cpuset: "${formatCpuSet(cpus)}" overlaps with default cpuset "${formatCpuSet(shared)}"`;
      own = own.union(cpus);
    }
    if (!own.isDisjointFrom(known)) return `pod: ${uid} has cpus "${formatCpuSet(own.intersection(known))}" that another pod has, too`;
    known = known.union(own);
  }
  const expected = initiallyShared(machine, reserved, options);
  if (sameCpus(known, expected)) return undefined;
  return `current set of available CPUs "${formatCpuSet(expected)}" doesn't match with CPUs in state "${formatCpuSet(known)}"`;
}
