import type { CpuSet } from '../../model/cpu-set.ts';
import { allChoices, countNodes, nodesOf, numaMask, type NumaMask } from '../../model/numa-mask.ts';
import type { TopologyHint } from '../../model/topology-hint.ts';
import type { MachineTopology } from '../machine-topology.ts';

export interface CpusForHints {
  /** From which they may be taken. */
  readonly available: CpuSet;
  /** Of the same pod: a choice of nodes has to hold all of them. */
  readonly reusable: CpuSet;
  readonly count: number;
  /** What is aligned with as few sockets as will do is preferred, too (align-by-socket). */
  readonly alignBySocket: boolean;
}

/** Each choice of NUMA nodes with enough free CPUs; those of as few nodes as would do on an empty machine are preferred (generateCPUTopologyHints). */
export function cpuHints(machine: MachineTopology, { available, reusable, count, alignBySocket }: CpusForHints): readonly TopologyHint[] {
  const ids = machine.idsOf('node');
  const perNode = (cpus: CpuSet): ReadonlyMap<number, number> =>
    new Map(ids.map((id) => [id, machine.cpusIn('node', id).intersection(cpus).size]));
  const [all, free, reused] = [perNode(machine.cpus), perNode(available), perNode(reusable)];
  const sum = (sizes: ReadonlyMap<number, number>, nodes: readonly number[]): number =>
    nodes.reduce((total, id) => total + (sizes.get(id) ?? 0), 0);
  let fewest = ids.length;
  const fitting: NumaMask[] = [];
  for (const nodes of allChoices(ids)) {
    if (nodes.length < fewest && sum(all, nodes) >= count) fewest = nodes.length;
    const reusedHere = sum(reused, nodes);
    if (reusedHere === reusable.size && reusedHere + sum(free, nodes) >= count) fitting.push(numaMask(nodes));
  }
  const isAligned = (mask: NumaMask): boolean => alignBySocket && isSocketAligned(machine, mask, fewest);
  return fitting.map((mask) => ({ nodes: mask, preferred: isAligned(mask) || countNodes(mask) === fewest }));
}

function isSocketAligned(machine: MachineTopology, mask: NumaMask, fewestNodes: number): boolean {
  const nodesPerSocket = Math.trunc(machine.countOf('node') / machine.countOf('socket'));
  if (nodesPerSocket === 0) return false;
  return socketsOf(machine, mask).length === Math.ceil(fewestNodes / nodesPerSocket);
}

/** The sockets that the nodes are on. */
export function socketsOf(machine: MachineTopology, mask: NumaMask): readonly number[] {
  const cpus = new Set(nodesOf(mask).flatMap((node) => [...machine.cpusIn('node', node)]));
  return machine.idsOf('socket', cpus);
}
