import { guaranteedMemory, type MemoryAmounts, podGuaranteedMemory } from '../../model/guaranteed-memory.ts';
import { nodesOf, noNodes, type NumaMask, numaMask } from '../../model/numa-mask.ts';
import type { PodRefusal } from '../../model/pod-admission.ts';
import { isSidecar } from '../../model/pod-predicates.ts';
import type { Container, Pod, PodUid } from '../../model/pod.ts';
import type { TopologyHint, TopologyHints } from '../../model/topology-hint.ts';
import { allocationFailed } from '../../model/allocation-failed.ts';
import { bestHint, memoryHints, type MemoryHint, mixesGroups, type Reusable } from './memory-hints.ts';
import { type MemoryBlock, type NodeMemories, sameNodes, sumOf, withBlocks } from './node-memory.ts';

/** Who has which memory: by pod and container. */
export type MemoryAssignments = ReadonlyMap<PodUid, ReadonlyMap<string, readonly MemoryBlock[]>>;

export interface MemoryAllocationsDeps {
  /** What nodes have where no container has any of it. */
  readonly unassigned: NodeMemories;
  /** What was assigned before, which fits these nodes. */
  readonly restored?: MemoryAssignments | undefined;
}

const nothingReusable: Reusable = () => 0;

export const blocksIn = (assignments: MemoryAssignments): readonly MemoryBlock[] =>
  [...assignments.values()].flatMap((containers) => [...containers.values()].flat());

/**
 * The memory and huge pages that containers of Guaranteed pods have, by NUMA node (staticPolicy in pkg/kubelet/cm/memorymanager). What is left
 * follows from who has what.
 *
 * INVARIANT: the blocks from a node come from the same nodes each, and no more is in them than these have.
 */
export class MemoryAllocations {
  readonly #unassigned: NodeMemories;
  readonly #assigned: Map<PodUid, Map<string, readonly MemoryBlock[]>>;
  #nodes: NodeMemories | undefined;

  constructor({ unassigned, restored }: MemoryAllocationsDeps) {
    this.#unassigned = unassigned;
    this.#assigned = new Map([...(restored ?? [])].map(([uid, containers]) => [uid, new Map(containers)]));
  }

  get assignments(): MemoryAssignments {
    return this.#assigned;
  }

  get nodes(): NodeMemories {
    return (this.#nodes ??= withBlocks(this.#unassigned, blocksIn(this.#assigned)));
  }

  get uids(): Iterable<PodUid> {
    return this.#assigned.keys();
  }

  /** From which NUMA nodes the container has its memory, ascending; none: from any. */
  nodesOf(uid: PodUid, container: string): readonly number[] {
    const blocks = this.#assigned.get(uid)?.get(container) ?? [];
    return nodesOf(numaMask(new Set(blocks.flatMap(({ nodes }) => nodes))));
  }

  hints(pod: Pod, container: Container): TopologyHints {
    const asked = guaranteedMemory(pod, container);
    if (asked.size === 0) return new Map();
    const own = this.#assigned.get(pod.metadata.uid)?.get(container.name);
    return own ? hintsOfOwn(own, asked) : forEach(asked, memoryHints(this.nodes, asked, this.#reusableBy(pod, container)));
  }

  podHints(pod: Pod): TopologyHints {
    const asked = podGuaranteedMemory(pod);
    if (asked.size === 0) return new Map();
    const [own] = this.#assigned.get(pod.metadata.uid)?.values() ?? [];
    return own ? hintsOfOwn(own, asked) : forEach(asked, memoryHints(this.nodes, asked, nothingReusable));
  }

  /** Gives the container its memory where it is to have some, from the hint's nodes and, where these do not do, from more. What it has already stays. */
  allocate(pod: Pod, container: Container, hint: TopologyHint): PodRefusal | undefined {
    const asked = guaranteedMemory(pod, container);
    const { uid } = pod.metadata;
    if (asked.size === 0 || this.#assigned.get(uid)?.has(container.name)) return undefined;
    const chosen = this.#choose(pod, container, asked, hint);
    if (typeof chosen === 'string') return allocationFailed(`[memorymanager] ${chosen}`);
    const nodes = nodesOf(chosen);
    const containers = this.#assigned.get(uid) ?? new Map<string, readonly MemoryBlock[]>();
    for (const [type, size] of asked) takeOver(containers, initContainersBefore(pod, container), { nodes, type, size });
    containers.set(
      container.name,
      [...asked].map(([type, size]) => ({ nodes, type, size })),
    );
    this.#assigned.set(uid, containers);
    this.#nodes = undefined;
    return undefined;
  }

  /** What the pod has is free again. Returns whether it had any. */
  release(uid: PodUid): boolean {
    const had = this.#assigned.delete(uid);
    if (had) this.#nodes = undefined;
    return had;
  }

  /** The nodes, or why there are none. */
  #choose(pod: Pod, container: Container, asked: MemoryAmounts, { nodes: hinted, preferred }: TopologyHint): NumaMask | string {
    const { nodes } = this;
    const offered = memoryHints(nodes, asked, this.#reusableBy(pod, container));
    let chosen: MemoryHint | undefined = hinted === undefined ? bestHint(offered, noNodes) : { nodes: hinted, preferred };
    if (!chosen) return 'failed to get the default NUMA affinity, no NUMA nodes with enough memory is available';
    if (!chosen.preferred && preferred) return 'failed to find the default preferred hint';
    const ids = nodesOf(chosen.nodes);
    const hasRoom = [...asked].every(([type, size]) => sumOf(nodes, ids, type, 'free') >= size);
    // A kubelet gives from one node of a group by itself, and then may give the same memory twice once a container of the group has ended.
    const isOfGroup = ids.length === 1 && mixesGroups(nodes, ids);
    if (!hasRoom || isOfGroup) {
      const before = chosen;
      chosen = bestHint(offered, before.nodes);
      if (!chosen) return 'failed to find NUMA nodes to extend the current topology hint';
      if (!chosen.preferred && before.preferred) return 'failed to find the extended preferred hint';
    }
    return mixesGroups(nodes, nodesOf(chosen.nodes)) ? 'preferred hint violates NUMA node allocation' : chosen.nodes;
  }

  #reusableBy(pod: Pod, container: Container): Reusable {
    const containers = this.#assigned.get(pod.metadata.uid);
    const before = initContainersBefore(pod, container);
    return (nodes, type) =>
      before
        .flatMap((name) => containers?.get(name) ?? [])
        .filter((block) => block.type === type && sameNodes(block.nodes, nodes))
        .reduce((sum, { size }) => sum + size, 0);
  }
}

/** Those that will have ended when the container starts. */
function initContainersBefore({ spec }: Pod, { name }: Container): readonly string[] {
  const all = spec.initContainers ?? [];
  const place = all.findIndex((each) => each.name === name);
  return all
    .slice(0, place < 0 ? all.length : place)
    .filter((each) => !isSidecar(each))
    .map((each) => each.name);
}

/** What the block needs is no longer the init containers': each byte is in one block (updateInitContainersMemoryBlocks). */
function takeOver(containers: Map<string, readonly MemoryBlock[]>, inits: readonly string[], { nodes, type, size }: MemoryBlock): void {
  let left = size;
  for (const name of inits) {
    const blocks = containers.get(name);
    if (!blocks) continue;
    const kept = blocks.map((block) => {
      if (block.type !== type || !sameNodes(block.nodes, nodes)) return block;
      const taken = Math.min(left, block.size);
      left -= taken;
      return { ...block, size: block.size - taken };
    });
    containers.set(name, kept);
  }
}

/** The same for each kind of memory; nothing is said where there is no room at all, as a kubelet says nothing: the allocation then fails. */
const forEach = (asked: MemoryAmounts, hints: readonly MemoryHint[]): TopologyHints =>
  new Map(hints.length === 0 ? [] : [...asked.keys()].map((type) => [type, hints]));

/** Where it has its memory already; nothing is said where that is other memory than it asks for (regenerateHints). */
function hintsOfOwn(blocks: readonly MemoryBlock[], asked: MemoryAmounts): TopologyHints {
  if (blocks.length !== asked.size || blocks.some(({ type, size }) => asked.get(type) !== size)) return new Map();
  return new Map(blocks.map(({ nodes, type }) => [type, [{ nodes: numaMask(nodes), preferred: true }]]));
}
