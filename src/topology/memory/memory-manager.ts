import type { Logger } from '../../base/logger.ts';
import { guaranteedMemory } from '../../model/guaranteed-memory.ts';
import type { PodRefusal } from '../../model/pod-admission.ts';
import type { Container, Pod, PodUid } from '../../model/pod.ts';
import type { TopologyHint, TopologyHints } from '../../model/topology-hint.ts';
import type { AssignedMemory } from '../../ports/assigned-resources.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { TopologyHintProvider } from '../../ports/topology-hint-provider.ts';
import type { CheckpointWriter } from '../checkpoint-writer.ts';
import type { MemoryAllocations } from './memory-allocations.ts';
import { type MemoryCheckpoint, memoryCheckpoint } from './memory-checkpoint.ts';

export interface MemoryManagerDeps {
  readonly allocations: MemoryAllocations;
  readonly checkpoint: Pick<CheckpointWriter<MemoryCheckpoint>, 'save'>;
  readonly tell: Pick<Happenings, 'memoryAsked'>;
  readonly log: Logger;
}

/** Gives containers memory of NUMA nodes, and keeps it on the disk who has how much of which. */
export class MemoryManager implements TopologyHintProvider {
  readonly #deps: MemoryManagerDeps;

  constructor(deps: MemoryManagerDeps) {
    this.#deps = deps;
  }

  get uids(): Iterable<PodUid> {
    return this.#deps.allocations.uids;
  }

  hints(pod: Pod, container: Container): TopologyHints {
    return this.#deps.allocations.hints(pod, container);
  }

  podHints(pod: Pod): TopologyHints {
    return this.#deps.allocations.podHints(pod);
  }

  /** Rejects where it cannot be written down: the container then has none. */
  async allocate(pod: Pod, container: Container, hint: TopologyHint): Promise<PodRefusal | undefined> {
    const { allocations, tell } = this.#deps;
    if (guaranteedMemory(pod, container).size === 0) return undefined;
    const refusal = allocations.allocate(pod, container, hint);
    tell.memoryAsked({ failed: refusal !== undefined });
    if (!refusal) await this.save();
    return refusal;
  }

  /** The NUMA nodes that the container's memory comes from: "0,1"; undefined: from any. */
  cpusetMems(uid: PodUid, container: string): string | undefined {
    const nodes = this.#deps.allocations.nodesOf(uid, container);
    return nodes.length === 0 ? undefined : nodes.join();
  }

  /** The memory that the container has for itself, by kind. */
  assignedTo(uid: PodUid, container: string): readonly AssignedMemory[] {
    const blocks = this.#deps.allocations.assignments.get(uid)?.get(container) ?? [];
    return blocks.map(({ nodes, type, size }) => ({ type, bytes: size, nodes }));
  }

  /** All that containers can have for themselves, in use or not. */
  get allocatable(): readonly AssignedMemory[] {
    return [...this.#deps.allocations.nodes].flatMap(([node, { tables }]) =>
      [...tables].flatMap(([type, { allocatable }]) => (allocatable > 0 ? [{ type, bytes: allocatable, nodes: [node] }] : [])),
    );
  }

  /** What cannot be written down is logged: what is not needed any more is left out when the agent begins again. */
  async release(uid: PodUid): Promise<void> {
    const { allocations, log } = this.#deps;
    if (!allocations.release(uid)) return;
    await this.save().catch((error: unknown) => log.warn('memory is free again, which could not be written down', { uid, error }));
  }

  save(): Promise<void> {
    return this.#deps.checkpoint.save(memoryCheckpoint(this.#deps.allocations));
  }
}
