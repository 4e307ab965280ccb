import type { Logger } from '../../base/logger.ts';
import { formatCpuSet, inOrder, sameCpus } from '../../model/cpu-set.ts';
import { guaranteedCpus } from '../../model/guaranteed-cpus.ts';
import type { PodRefusal } from '../../model/pod-admission.ts';
import type { Container, Pod, PodUid } from '../../model/pod.ts';
import type { TopologyHint, TopologyHints } from '../../model/topology-hint.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { TopologyHintProvider } from '../../ports/topology-hint-provider.ts';
import type { CheckpointWriter } from '../checkpoint-writer.ts';
import type { CpuAllocations } from './cpu-allocations.ts';
import { type CpuCheckpoint, cpuCheckpoint } from './cpu-checkpoint.ts';

export interface CpuManagerDeps {
  readonly allocations: CpuAllocations;
  readonly checkpoint: Pick<CheckpointWriter<CpuCheckpoint>, 'save'>;
  /** The shared CPUs are others now. */
  readonly onSharedChange: () => void;
  readonly tell: Pick<Happenings, 'cpusAsked' | 'cpusAssigned'>;
  readonly log: Logger;
}

/** Gives containers CPUs of their own, and keeps it on the disk who has which. */
export class CpuManager implements TopologyHintProvider {
  readonly #deps: CpuManagerDeps;

  constructor(deps: CpuManagerDeps) {
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
    if (guaranteedCpus(pod, container) === 0) return undefined;
    const refusal = this.#change(() => allocations.allocate(pod, container, hint));
    tell.cpusAsked({ failed: refusal !== undefined });
    if (!refusal) await this.save();
    return refusal;
  }

  /** The container's own CPUs, else the shared ones: "0-2,7". */
  cpuset(uid: PodUid, container: string): string {
    const { allocations } = this.#deps;
    return formatCpuSet(allocations.exclusiveOf(uid, container) ?? allocations.shared);
  }

  /** The container's own CPUs, ascending; undefined: it has none. */
  exclusiveOf(uid: PodUid, container: string): readonly number[] | undefined {
    const own = this.#deps.allocations.exclusiveOf(uid, container);
    return own && inOrder(own);
  }

  /** All that containers can have for themselves, in use or not. */
  get allocatable(): readonly number[] {
    const { available, exclusive } = this.#deps.allocations;
    return inOrder(available.union(exclusive));
  }

  /** What cannot be written down is logged: what is not needed any more is left out when the agent begins again. */
  async release(uid: PodUid): Promise<void> {
    const { allocations, log } = this.#deps;
    if (!this.#change(() => allocations.release(uid))) return;
    await this.save().catch((error: unknown) => log.warn('CPUs are shared again, which could not be written down', { uid, error }));
  }

  tellAssigned(): void {
    const { allocations, tell } = this.#deps;
    tell.cpusAssigned({ available: allocations.available.size, exclusive: allocations.exclusivePerNode });
  }

  save(): Promise<void> {
    return this.#deps.checkpoint.save(cpuCheckpoint(this.#deps.allocations.assignments));
  }

  #change<T>(work: () => T): T {
    const { allocations, onSharedChange } = this.#deps;
    const before = allocations.shared;
    const result = work();
    if (!sameCpus(before, allocations.shared)) {
      onSharedChange();
      this.tellAssigned();
    }
    return result;
  }
}
