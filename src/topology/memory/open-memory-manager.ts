import { join } from 'node:path';
import type { NodeParts } from '../../ports/node-parts.ts';
import { CheckpointWriter } from '../checkpoint-writer.ts';
import type { MachineTopology } from '../machine-topology.ts';
import { MEMORY_STATE_FILE, readCheckpoint } from '../read-checkpoint.ts';
import { MemoryAllocations } from './memory-allocations.ts';
import { type MemoryCheckpoint, readMemoryCheckpoint } from './memory-checkpoint.ts';
import { MemoryManager } from './memory-manager.ts';
import { memoryStateFault } from './memory-state-fault.ts';
import { unassignedMemory } from './node-memory.ts';
import { reservedMemory } from './reserved-memory.ts';

export type MemoryManagerNeeds = Pick<NodeParts, 'options' | 'files' | 'log' | 'node' | 'tell'>;

/** Goes on with what was assigned before. Rejects where that, or what is reserved, does not fit this machine or the policy. */
export async function openMemoryManager(
  { options, files, log, node, tell }: MemoryManagerNeeds,
  { nodes }: MachineTopology,
): Promise<MemoryManager> {
  const unassigned = unassignedMemory(nodes, reservedMemory(nodes, options.reservedMemory, node.resources.reserved()));
  const restored = await readCheckpoint(join(options.rootDir, MEMORY_STATE_FILE), (json) => {
    const state = readMemoryCheckpoint(json);
    const fault = state && memoryStateFault(state, unassigned);
    if (fault !== undefined) throw new Error(fault);
    return state?.assignments;
  });
  const allocations = new MemoryAllocations({ unassigned, restored });
  const checkpoint = new CheckpointWriter(files.open<MemoryCheckpoint>(MEMORY_STATE_FILE, () => undefined));
  const manager = new MemoryManager({ allocations, checkpoint, tell, log });
  const free = [...allocations.nodes].map(([id, { tables }]) => `${id}: ${tables.get('memory')?.free ?? 0}`);
  log.info('containers of Guaranteed pods get memory of chosen NUMA nodes', { freeBytes: free.join(', ') });
  await manager.save().catch((error: unknown) => log.warn('who has which memory could not be written down yet', { error }));
  return manager;
}
