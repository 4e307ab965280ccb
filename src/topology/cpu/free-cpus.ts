import { type CpuSet, inOrder } from '../../model/cpu-set.ts';
import type { MachineTopology, TopologyLevel } from '../machine-topology.ts';

/** Packed: whole cores before the next one. Spread: one thread of each core before the next ones. */
export type CpuOrder = 'packed' | 'spread';

/** CPUs that are taken one group after the other until there are enough (cpuAccumulator in pkg/kubelet/cm/cpumanager). */
export class FreeCpus {
  readonly #machine: MachineTopology;
  readonly #order: CpuOrder;
  readonly #free: Set<number>;
  readonly #taken = new Set<number>();
  #needed: number;

  constructor(machine: MachineTopology, free: CpuSet, needed: number, order: CpuOrder) {
    this.#machine = machine;
    this.#free = new Set(free);
    this.#needed = needed;
    this.#order = order;
  }

  get free(): CpuSet {
    return this.#free;
  }

  get taken(): CpuSet {
    return this.#taken;
  }

  get needed(): number {
    return this.#needed;
  }

  get isSatisfied(): boolean {
    return this.#needed < 1;
  }

  take(cpus: Iterable<number>): void {
    for (const cpu of cpus) {
      if (!this.#free.delete(cpu)) continue;
      this.#taken.add(cpu);
      this.#needed -= 1;
    }
  }

  /** What is wholly free and no more than is needed, in order. */
  takeFull(level: TopologyLevel): void {
    for (const id of this.sorted(level)) {
      const cpus = this.#machine.cpusIn(level, id);
      if (cpus.size <= this.#needed && this.#isWhole(level, id, cpus)) this.take(cpus);
    }
  }

  /** Whole caches while they are needed, then as many of one cache as are still needed (takeUncoreCache). */
  takeUncoreCaches(): void {
    for (const id of this.sorted('uncoreCache')) {
      if (this.#needed >= this.#machine.cpusPer('uncoreCache')) this.takeFull('uncoreCache');
      if (this.isSatisfied) return;
      const cpus = this.#partOfCache(id);
      if (cpus.length === this.#needed) this.take(cpus);
      if (this.isSatisfied) return;
    }
  }

  /** One by one, those first that complete what has been begun. */
  takeRemaining(): void {
    for (const cpu of this.#sortedCpus()) {
      if (this.isSatisfied) return;
      this.take([cpu]);
    }
  }

  freeIn(level: TopologyLevel, id: number): CpuSet {
    return this.#machine.cpusIn(level, id).intersection(this.#free);
  }

  /**
   * What has free CPUs, the emptiest first: within what encloses it, in its order. Sockets enclose NUMA nodes where there are fewer of
   * them, else nodes enclose sockets.
   */
  sorted(level: TopologyLevel): readonly number[] {
    return this.#sortedAlong(this.#pathTo(level));
  }

  #pathTo(level: TopologyLevel): readonly TopologyLevel[] {
    const outerFirst: readonly TopologyLevel[] =
      this.#machine.countOf('socket') >= this.#machine.countOf('node') ? ['node', 'socket', 'core'] : ['socket', 'node', 'core'];
    if (level === 'uncoreCache') return [...this.#pathTo('node'), level];
    return outerFirst.slice(0, outerFirst.indexOf(level) + 1);
  }

  #sortedAlong(path: readonly TopologyLevel[]): readonly number[] {
    const level = path.at(-1);
    const around = path.at(-2);
    if (level === undefined) return [];
    if (around === undefined) return this.#emptiestFirst(level, this.#free);
    return this.#sortedAlong(path.slice(0, -1)).flatMap((id) => this.#emptiestFirst(level, this.freeIn(around, id)));
  }

  #emptiestFirst(level: TopologyLevel, among: CpuSet): readonly number[] {
    const sizes = this.#machine.idsOf(level, among).map((id) => ({ id, size: this.freeIn(level, id).size }));
    return sizes.toSorted((a, b) => a.size - b.size || a.id - b.id).map(({ id }) => id);
  }

  #sortedCpus(): readonly number[] {
    const level = this.#order === 'packed' ? 'core' : 'socket';
    return this.sorted(level).flatMap((id) => inOrder(this.freeIn(level, id)));
  }

  /** The kubelet takes cores and sockets for equal: one that has lost a CPU is found by the average. */
  #isWhole(level: TopologyLevel, id: number, all: CpuSet): boolean {
    const size = level === 'core' || level === 'socket' ? this.#machine.cpusPer(level) : all.size;
    return this.freeIn(level, id).size === size;
  }

  /** The CPUs of as many cores as would do; of an odd number, the last thread is left out (takePartialUncore). */
  #partOfCache(id: number): readonly number[] {
    const perCore = this.#machine.cpusPer('core');
    const cores = this.#machine.idsOf('core', this.freeIn('uncoreCache', id)).slice(0, Math.ceil(this.#needed / perCore));
    const cpus = inOrder(cores.flatMap((core) => [...this.freeIn('core', core)]));
    const isOneTooMany = this.#needed % 2 !== 0 && perCore > 1 && cpus.length > this.#needed;
    return isOneTooMany ? cpus.slice(0, -1) : cpus;
  }
}
