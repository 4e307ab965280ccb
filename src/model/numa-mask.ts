/** NUMA nodes as bits: node n is bit n, from 0 to 63 (pkg/kubelet/cm/topologymanager/bitmask). */
export type NumaMask = bigint & { readonly __brand: 'NumaMask' };

export const noNodes = 0n as NumaMask;

/** Throws RangeError for a number that no bit stands for. */
export function numaMask(nodes: Iterable<number>): NumaMask {
  let mask = 0n;
  for (const node of nodes) {
    if (!Number.isInteger(node) || node < 0 || node > 63) throw new RangeError(`NUMA node ${node}: only nodes 0 to 63 can be told apart`);
    mask |= 1n << BigInt(node);
  }
  return mask as NumaMask;
}

/** Ascending. */
export function nodesOf(mask: NumaMask): readonly number[] {
  const nodes: number[] = [];
  for (let node = 0, rest: bigint = mask; rest !== 0n; node++, rest >>= 1n) if ((rest & 1n) === 1n) nodes.push(node);
  return nodes;
}

export const countNodes = (mask: NumaMask): number => nodesOf(mask).length;
export const bothMasks = (one: NumaMask, other: NumaMask): NumaMask => (one & other) as NumaMask;

/** Fewer nodes; of as many, the lower-numbered ones. */
export function isNarrower(one: NumaMask, than: NumaMask): boolean {
  const [own, others] = [countNodes(one), countNodes(than)];
  return own === others ? one < than : own < others;
}

/** Every choice of at least one of the nodes: the small ones first, each size in the nodes' order. There are 2 to the power of nodes. */
export function* allChoices(nodes: readonly number[]): Generator<readonly number[]> {
  for (let size = 1; size <= nodes.length; size++) yield* combinations(nodes, size);
}

/** Every choice of `size` of the items, in their order. */
export function* combinations<T>(items: readonly T[], size: number, from = 0): Generator<readonly T[]> {
  if (size === 0) yield [];
  else
    for (let index = from; index <= items.length - size; index++) {
      const item = items[index] as T;
      for (const rest of combinations(items, size - 1, index + 1)) yield [item, ...rest];
    }
}
