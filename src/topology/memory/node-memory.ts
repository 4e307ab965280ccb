import { Quantity } from '../../model/quantity.ts';
import type { NumaNode } from '../machine-topology.ts';

/** Of one kind of memory of a NUMA node, in bytes. */
export interface MemoryTable {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  /** Of containers. */
  readonly reserved: number;
  readonly free: number;
}

/** Memory of one kind that a container has, from these nodes together. */
export interface MemoryBlock {
  /** Ascending. */
  readonly nodes: readonly number[];
  readonly type: string;
  /** Bytes. 0: later containers of the pod have it. */
  readonly size: number;
}

/** A NUMA node's memory, and who has it (NUMANodeState in pkg/kubelet/cm/memorymanager/state). */
export interface NodeMemory {
  /** Blocks that come from it. */
  readonly assignments: number;
  readonly tables: ReadonlyMap<string, MemoryTable>;
  /** With which nodes it gives memory together; itself included, ascending. */
  readonly group: readonly number[];
}

/** By number of the node. */
export type NodeMemories = ReadonlyMap<number, NodeMemory>;

/** Bytes by node and kind: kept from containers. */
export type ReservedPerNode = ReadonlyMap<number, ReadonlyMap<string, number>>;

export const hugePagesName = (pageSizeKiB: number): string => `hugepages-${Quantity.of(pageSizeKiB * 1024, 'BinarySI').canonical()}`;

/** What nodes have where no container has any of it (getDefaultMachineState). */
export function unassignedMemory(nodes: readonly NumaNode[], reserved: ReservedPerNode): NodeMemories {
  return new Map(
    nodes.map(({ id, memoryBytes, hugePages }) => {
      const ofPages = hugePages.map(({ pageSizeKiB, pages }) => [hugePagesName(pageSizeKiB), pages * pageSizeKiB * 1024] as const);
      const inPages = ofPages.reduce((sum, [, bytes]) => sum + bytes, 0);
      const table = (type: string, total: number, otherwise = 0): readonly [string, MemoryTable] => {
        const systemReserved = reserved.get(id)?.get(type) ?? 0;
        const allocatable = total - systemReserved - otherwise;
        return [type, { total, systemReserved, allocatable, reserved: 0, free: allocatable }];
      };
      const tables = new Map([...ofPages.map(([type, total]) => table(type, total)), table('memory', memoryBytes, inPages)]);
      return [id, { assignments: 0, tables, group: [id] }];
    }),
  );
}

/**
 * What nodes have left when containers have these blocks: a block takes what its first node has, then what the next one has. Throws with
 * what is wrong where a block comes from what is not there, in the kubelet's words without its prefix.
 */
export function withBlocks(unassigned: NodeMemories, blocks: Iterable<MemoryBlock>): NodeMemories {
  const nodes = new Map(unassigned);
  for (const { nodes: ids, type, size } of blocks) {
    let left = size;
    for (const id of ids) {
      const node = nodes.get(id);
      if (!node) throw new Error('the memory assignment uses the NUMA that does not exist');
      const table = node.tables.get(type);
      if (!table) throw new Error('the memory assignment uses memory resource that does not exist');
      const taken = Math.min(left, table.free);
      left -= taken;
      const tables =
        taken === 0
          ? node.tables
          : new Map(node.tables).set(type, { ...table, reserved: table.reserved + taken, free: table.free - taken });
      nodes.set(id, { assignments: node.assignments + 1, tables, group: ids });
    }
  }
  return nodes;
}

/** Of one kind, of these nodes together. */
export const sumOf = (nodes: NodeMemories, ids: readonly number[], type: string, field: keyof MemoryTable): number =>
  ids.reduce((sum, id) => sum + (nodes.get(id)?.tables.get(type)?.[field] ?? 0), 0);

export const sameNodes = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((id, index) => id === other[index]);
