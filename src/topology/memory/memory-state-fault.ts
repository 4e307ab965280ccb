import { errorText } from '../../base/error-text.ts';
import type { MemoryState } from './memory-checkpoint.ts';
import { blocksIn } from './memory-allocations.ts';
import { type NodeMemories, type NodeMemory, sameNodes, sumOf, withBlocks } from './node-memory.ts';

/**
 * Why what was assigned before cannot be gone on with on these nodes; undefined: it can (staticPolicy.validateState). Within a group of nodes
 * only sums count: which of them gave how much is not written down.
 */
export function memoryStateFault({ nodes, assignments }: MemoryState, unassigned: NodeMemories): string | undefined {
  for (const [uid, containers] of assignments)
    for (const [name, blocks] of containers) {
      const fault = faultOf(() => withBlocks(unassigned, blocks));
      if (fault !== undefined) return `[memorymanager] (pod: ${uid}, container: ${name}) ${fault}`;
    }
  const expected = withBlocks(unassigned, blocksIn(assignments));
  const difference = differenceOf(nodes, expected);
  return difference && `[memorymanager] the expected machine state is different from the real one: ${difference}`;
}

function differenceOf(read: NodeMemories, expected: NodeMemories): string | undefined {
  if (read.size !== expected.size) return `NUMA nodes ${[...read.keys()].join()}, and this machine has ${[...expected.keys()].join()}`;
  for (const [id, node] of expected) {
    const before = read.get(id);
    if (!before) return `NUMA node ${id} is missing`;
    const fault = differenceOfNode(before, node) ?? differenceOfSums(read, expected, node);
    if (fault !== undefined) return `NUMA node ${id}: ${fault}`;
  }
  return undefined;
}

function differenceOfNode(before: NodeMemory, now: NodeMemory): string | undefined {
  if (before.assignments !== now.assignments) return `${before.assignments} assignments, and ${now.assignments} are written down`;
  if (!sameNodes(before.group, now.group)) return `a group of nodes ${before.group.join()}, and its assignments are of ${now.group.join()}`;
  if (before.tables.size !== now.tables.size)
    return `memory of the kinds ${[...before.tables.keys()].join()}, and the machine has ${[...now.tables.keys()].join()}`;
  for (const [type, table] of now.tables)
    for (const field of ['total', 'systemReserved', 'allocatable'] as const) {
      const found = before.tables.get(type)?.[field];
      if (found !== table[field]) return `${field} of ${type} is ${found ?? 'missing'}, and ${table[field]} by now`;
    }
  return undefined;
}

function differenceOfSums(read: NodeMemories, expected: NodeMemories, { tables, group }: NodeMemory): string | undefined {
  for (const type of tables.keys())
    for (const field of ['free', 'reserved'] as const) {
      const [before, now] = [sumOf(read, group, type, field), sumOf(expected, group, type, field)];
      if (before !== now) return `${field} of ${type} is ${before}, and by the assignments ${now}`;
    }
  return undefined;
}

function faultOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
