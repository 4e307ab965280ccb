import type { CpuSet } from '../../model/cpu-set.ts';
import { combinations } from '../../model/numa-mask.ts';
import type { MachineTopology } from '../machine-topology.ts';
import type { CpuPolicyOptions } from '../../model/cpu-policy-options.ts';
import { type CpuOrder, FreeCpus } from './free-cpus.ts';

/** There are not as many. In the kubelet's words. */
export class NotEnoughCpusError extends Error {}

/**
 * Chooses `count` of the free CPUs: near to each other, or spread over NUMA nodes or cores, as the options say (staticPolicy.takeByTopology in
 * pkg/kubelet/cm/cpumanager). Throws NotEnoughCpusError.
 */
export function takeCpus(machine: MachineTopology, free: CpuSet, count: number, options: CpuPolicyOptions): CpuSet {
  const order: CpuOrder = options.distributeCpusAcrossCores ? 'spread' : 'packed';
  if (count > free.size)
    throw new NotEnoughCpusError(`not enough cpus available to satisfy request: requested=${count}, available=${free.size}`);
  if (!options.distributeCpusAcrossNuma) return takePacked(machine, free, count, order, options.preferAlignCpusByUncoreCache);
  const groupSize = options.fullPcpusOnly ? machine.cpusPer('core') : 1;
  return takeDistributed(machine, free, count, groupSize, order) ?? takePacked(machine, free, count, order);
}

/** Best fit: whole sockets and NUMA nodes, whole caches where that is asked for, whole cores, then single threads (takeByTopologyNUMAPacked). */
function takePacked(machine: MachineTopology, free: CpuSet, count: number, order: CpuOrder, byCache = false): CpuSet {
  const cpus = new FreeCpus(machine, free, count, order);
  const nodesFirst = machine.countOf('socket') >= machine.countOf('node');
  for (const level of nodesFirst ? (['node', 'socket'] as const) : (['socket', 'node'] as const)) cpus.takeFull(level);
  if (byCache) cpus.takeUncoreCaches();
  if (order === 'packed') cpus.takeFull('core');
  cpus.takeRemaining();
  return cpus.taken;
}

/** NUMA nodes that a request is shared out to evenly; `remainder`: those that give one more group each, in turn. */
interface Shares {
  readonly nodes: readonly number[];
  readonly remainder: readonly number[];
  /** How unevenly what stays free is spread over all nodes. */
  readonly imbalance: number;
}

/**
 * Shares a request out evenly to as few NUMA nodes as can give it, such that what stays free is as even as can be
 * (takeByTopologyNUMADistributed, KEP 2902). Undefined: it cannot be shared out so.
 */
function takeDistributed(machine: MachineTopology, free: CpuSet, count: number, groupSize: number, order: CpuOrder): CpuSet | undefined {
  if (count === 0 || count % groupSize !== 0) return undefined;
  const cpus = new FreeCpus(machine, free, count, order);
  const nodes = cpus.sorted('node');
  const sizes = new Map(nodes.map((node) => [node, cpus.freeIn('node', node).size]));
  // How many nodes at least, were they all free, and how many at most.
  const groups = count / groupSize;
  const groupsPerNode = Math.ceil(Math.ceil(machine.cpus.size / groupSize) / machine.countOf('node'));
  const most = Math.min(groups, nodes.length);
  for (let size = Math.ceil(groups / groupsPerNode); size <= most; size++) {
    const best = evenestShares(nodes, sizes, size, count, groupSize);
    if (!best) continue;
    const share = Math.trunc(count / size / groupSize) * groupSize;
    const give = (node: number, amount: number): void =>
      cpus.take(takePacked(machine, cpus.freeIn('node', node), Math.min(amount, cpus.freeIn('node', node).size), order));
    for (const node of best.nodes) give(node, share);
    for (const node of inTurns(best.remainder, count - share * size, groupSize, (each) => cpus.freeIn('node', each).size))
      give(node, groupSize);
    return cpus.needed === 0 ? cpus.taken : undefined;
  }
  return undefined;
}

function evenestShares(
  all: readonly number[],
  sizes: ReadonlyMap<number, number>,
  size: number,
  count: number,
  groupSize: number,
): Shares | undefined {
  const sizeOf = (node: number): number => sizes.get(node) ?? 0;
  const share = Math.trunc(count / size / groupSize) * groupSize;
  const remainder = count - share * size;
  let best: Shares | undefined;
  for (const nodes of combinations(all, size)) {
    if (best?.imbalance === 0) break;
    const inGroups = nodes.reduce((sum, node) => sum + Math.trunc(sizeOf(node) / groupSize) * groupSize, 0);
    if (inGroups < count || nodes.some((node) => sizeOf(node) < share)) continue;
    const left = new Map(all.map((node) => [node, sizeOf(node) - (nodes.includes(node) ? share : 0)]));
    const found = evenestRemainder(nodes, left, remainder, groupSize);
    if (found && found.imbalance < (best?.imbalance ?? Number.POSITIVE_INFINITY)) best = found;
  }
  return best;
}

/** Which of the nodes give what could not be shared out evenly: rather many than few. */
function evenestRemainder(
  nodes: readonly number[],
  left: ReadonlyMap<number, number>,
  remainder: number,
  groupSize: number,
): Shares | undefined {
  if (remainder === 0) return { nodes, remainder: [], imbalance: standardDeviation([...left.values()]) };
  const able = nodes.filter((node) => (left.get(node) ?? 0) >= groupSize);
  let best: Shares | undefined;
  for (let size = able.length; size >= 1; size--)
    for (const subset of combinations(able, size)) {
      const after = new Map(left);
      const giving = [...inTurns(subset, remainder, groupSize, (node) => after.get(node) ?? 0, after)];
      if (giving.length * groupSize < remainder) continue;
      const imbalance = standardDeviation([...after.values()]);
      if (imbalance < (best?.imbalance ?? Number.POSITIVE_INFINITY)) best = { nodes, remainder: subset, imbalance };
    }
  return best;
}

/** The nodes in turn, one group each, until the amount is given or none has a group any more. */
function* inTurns(
  nodes: readonly number[],
  amount: number,
  groupSize: number,
  leftOf: (node: number) => number,
  deductFrom?: Map<number, number>,
): Generator<number> {
  let remaining = amount;
  let gave = true;
  while (remaining > 0 && gave) {
    gave = false;
    for (const node of nodes) {
      if (remaining <= 0) return;
      const left = leftOf(node);
      if (left < groupSize) continue;
      deductFrom?.set(node, left - groupSize);
      remaining -= groupSize;
      gave = true;
      yield node;
    }
  }
}

/** To three digits, as the kubelet compares them. */
function standardDeviation(values: readonly number[]): number {
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  const mean = round(values.reduce((sum, value) => sum + value, 0) / values.length);
  return round(Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length));
}
