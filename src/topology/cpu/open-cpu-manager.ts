import { join } from 'node:path';
import { isJsonObject } from '../../base/json-object.ts';
import { formatCpuSet } from '../../model/cpu-set.ts';
import type { PodUid } from '../../model/pod.ts';
import { cpuPolicyOptions } from '../../options/resource-manager-options.ts';
import type { ContainerRuntime } from '../../ports/container-runtime.ts';
import type { NodeParts } from '../../ports/node-parts.ts';
import { CheckpointWriter } from '../checkpoint-writer.ts';
import type { MachineTopology } from '../machine-topology.ts';
import { CPU_STATE_FILE, readCheckpoint } from '../read-checkpoint.ts';
import { CpuAllocations, cpuAssignmentsFault } from './cpu-allocations.ts';
import { type CpuCheckpoint, type FindContainer, readCpuCheckpoint } from './cpu-checkpoint.ts';
import { CpuManager } from './cpu-manager.ts';
import { reservedCpus } from './reserved-cpus.ts';

export type CpuManagerNeeds = Pick<NodeParts, 'options' | 'files' | 'log' | 'node' | 'tell'> & {
  readonly engine: { readonly runtime: Pick<ContainerRuntime, 'listPods'> };
};

/** Goes on with what was assigned before. Rejects where that, or what is reserved, does not fit this machine or the policy. */
export async function openCpuManager(
  { options, files, log, node, engine, tell }: CpuManagerNeeds,
  machine: MachineTopology,
  onSharedChange: () => void,
): Promise<CpuManager> {
  const policy = cpuPolicyOptions(options.cpuManagerPolicyOptions);
  if (policy.alignBySocket && machine.countOf('socket') > machine.countOf('node'))
    throw new Error(
      'cpuManagerPolicyOptions align-by-socket does not go with a machine that has more sockets than NUMA nodes: leave it out',
    );
  const reserved = reservedCpus(machine, options.reservedSystemCpus, node.resources.reserved(), policy);
  const given = { machine, reserved, options: policy };
  const restored = await readCheckpoint(join(options.rootDir, CPU_STATE_FILE), async (json) => {
    const assignments = readCpuCheckpoint(json, await findContainer(json, engine.runtime));
    const fault = assignments && cpuAssignmentsFault(assignments, given);
    if (fault !== undefined) throw new Error(fault);
    return assignments;
  });
  const allocations = new CpuAllocations({ ...given, restored });
  const checkpoint = new CheckpointWriter(files.open<CpuCheckpoint>(CPU_STATE_FILE, () => undefined));
  const manager = new CpuManager({ allocations, checkpoint, onSharedChange, tell, log });
  manager.tellAssigned();
  log.info('containers of Guaranteed pods get whole CPUs for themselves', {
    cpus: formatCpuSet(machine.cpus),
    reserved: formatCpuSet(reserved),
    shared: formatCpuSet(allocations.shared),
    exclusive: formatCpuSet(allocations.exclusive),
  });
  await manager.save().catch((error: unknown) => log.warn('who has which CPUs could not be written down yet', { error }));
  return manager;
}

/** Only checkpoints of before 1.18 name containers by their ids. */
async function findContainer(json: unknown, runtime: CpuManagerNeeds['engine']['runtime']): Promise<FindContainer> {
  const entries = isJsonObject(json) && isJsonObject(json['entries']) ? Object.values(json['entries']) : [];
  const found = new Map<string, { readonly uid: PodUid; readonly name: string }>();
  if (entries.some((entry) => typeof entry === 'string'))
    for (const { uid, parts } of await runtime.listPods(new AbortController().signal))
      for (const { id, container } of parts) if (container !== undefined) found.set(id, { uid, name: container });
  return (id) => found.get(id);
}
