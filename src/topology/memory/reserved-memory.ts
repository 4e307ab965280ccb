import type { ResourceList } from '../../model/node.ts';
import { Quantity } from '../../model/quantity.ts';
import type { MemoryOfNode } from '../../options/memory-of-nodes.ts';
import type { NumaNode } from '../machine-topology.ts';
import { type ReservedPerNode, unassignedMemory } from './node-memory.ts';

const SETTING = 'reservedMemory (--reserved-memory)';

/**
 * How much of each NUMA node is kept from containers. Throws where that is not, of each kind of memory, what the node as a whole reserves
 * (validateReservedMemory in pkg/kubelet/cm/memorymanager), or is more than a node has. Throws QuantityParseError.
 */
export function reservedMemory(
  nodes: readonly NumaNode[],
  reservations: readonly Partial<MemoryOfNode>[],
  ofNode: ResourceList,
): ReservedPerNode {
  const reserved = new Map(nodes.map(({ id }) => [id, new Map<string, number>()]));
  const sums = new Map<string, Quantity>();
  for (const { numaNode: given, limits } of reservations) {
    const numaNode = given ?? 0;
    const here = reserved.get(numaNode);
    if (!here)
      throw new Error(
        `${SETTING}: the reserved memory configuration references a NUMA node ${numaNode} that does not exist on this machine, which has ${nodes.map(({ id }) => id).join()}`,
      );
    for (const [type, text] of Object.entries(limits ?? {})) {
      const amount = Quantity.fromJson(text);
      sums.set(type, (sums.get(type) ?? Quantity.zero).add(amount));
      here.set(type, Number(amount.value()));
    }
  }
  for (const type of new Set([
    ...sums.keys(),
    ...Object.keys(ofNode).filter((name) => name === 'memory' || name.startsWith('hugepages-')),
  ])) {
    const [sum, wanted] = [sums.get(type) ?? Quantity.zero, Quantity.fromJson(ofNode[type])];
    if (sum.cmp(wanted) !== 0)
      throw new Error(
        `${SETTING}: the total amount ${JSON.stringify(sum.canonical())} of type ${JSON.stringify(type)} is not equal to the value ${JSON.stringify(wanted.canonical())} determined by Node Allocatable feature: make it the sum of what kubeReserved, systemReserved and evictionHard say of it`,
      );
  }
  if ((sums.get('memory') ?? Quantity.zero).sign() <= 0)
    throw new Error(
      `${SETTING}: [memorymanager] you should specify the system reserved memory: memoryManagerPolicy Static needs a reservation of memory in kubeReserved, systemReserved or evictionHard, and ${SETTING} to say from which NUMA nodes it is`,
    );
  for (const [id, { tables }] of unassignedMemory(nodes, reserved))
    for (const [type, { allocatable, systemReserved }] of tables)
      if (allocatable < 0)
        throw new Error(
          `${SETTING}: ${systemReserved} bytes of ${type} are reserved of NUMA node ${id}, which has ${allocatable + systemReserved}: reserve less of it`,
        );
  return reserved;
}
