import { type CpuSet, inOrder } from '../model/cpu-set.ts';

/** Where a logical CPU is. */
export interface CpuPlace {
  /** Its lowest CPU's number: unique on the machine (topology.go getUniqueCoreID). */
  readonly core: number;
  readonly socket: number;
  readonly node: number;
  /** The cache of level 3 or above that it shares with a part of its node; where it has none of that kind, its socket's number. */
  readonly uncoreCache: number;
}

export interface NumaNode {
  readonly id: number;
  /** 0: not known. */
  readonly memoryBytes: number;
  readonly hugePages: readonly { readonly pageSizeKiB: number; readonly pages: number }[];
  /** To each node, in the order of the nodes' numbers; undefined: the kernel does not say. */
  readonly distances: readonly number[] | undefined;
}

export type TopologyLevel = keyof CpuPlace;

/** The CPUs that are online and where they are (CPUTopology in pkg/kubelet/cm/cpumanager/topology). Never changes. */
export class MachineTopology {
  readonly nodes: readonly NumaNode[];
  /** All, ascending. */
  readonly cpus: CpuSet;
  readonly #places: ReadonlyMap<number, CpuPlace>;
  readonly #groups: Readonly<Record<TopologyLevel, ReadonlyMap<number, CpuSet>>>;

  constructor(places: ReadonlyMap<number, CpuPlace>, nodes: readonly NumaNode[]) {
    this.#places = places;
    this.nodes = nodes;
    this.cpus = new Set(inOrder(places.keys()));
    const group = (level: TopologyLevel): ReadonlyMap<number, CpuSet> =>
      new Map([...Map.groupBy(this.cpus, (cpu) => this.placeOf(cpu)[level])].map(([id, cpus]) => [id, new Set(cpus)]));
    this.#groups = { core: group('core'), socket: group('socket'), node: group('node'), uncoreCache: group('uncoreCache') };
  }

  /** Throws for a CPU that is not online here. */
  placeOf(cpu: number): CpuPlace {
    const place = this.#places.get(cpu);
    if (!place) throw new Error(`unknown CPU ID: ${cpu}`);
    return place;
  }

  /** Numbers of what there is of a level among these CPUs, ascending; of all unless said. */
  idsOf(level: TopologyLevel, cpus: CpuSet = this.cpus): readonly number[] {
    const ids = cpus === this.cpus ? this.#groups[level].keys() : new Set([...cpus].map((cpu) => this.placeOf(cpu)[level]));
    return inOrder(ids);
  }

  cpusIn(level: TopologyLevel, id: number): CpuSet {
    return this.#groups[level].get(id) ?? new Set();
  }

  /** Of all of them: how many there are on the average, rounded down, of a level (CPUsPerCore and its like). */
  cpusPer(level: TopologyLevel): number {
    const count = this.#groups[level].size;
    return count === 0 ? 0 : Math.trunc(this.cpus.size / count);
  }

  countOf(level: TopologyLevel): number {
    return this.#groups[level].size;
  }
}
