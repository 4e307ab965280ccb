import { Quantity } from '../model/quantity.ts';
import { items, quantity } from './accepted-kinds.ts';
import { int32 } from './kinds.ts';
import { mapOf } from './map-of.ts';
import { ExpectedError, type Kind } from './option.ts';

/** Of a NUMA node, by kind of memory: "memory", "hugepages-2Mi". */
export interface MemoryOfNode {
  readonly numaNode: number;
  readonly limits: Readonly<Record<string, string>>;
}

const ofNodes = items<MemoryOfNode>('a list of NUMA nodes', (z) => ({
  numaNode: int32.schema(z),
  limits: mapOf(z, quantity.schema(z)),
}));

const expected = 'a NUMA node and amounts of its memory, such as 0:memory=1Gi,hugepages-2Mi=8Mi';

/** reservedMemory: in the file a list; a flag is about one node, and may be repeated (ReservedMemoryVar in pkg/util/flag). */
export const memoryOfNodes: Kind<readonly Partial<MemoryOfNode>[]> = {
  ...ofNodes,
  expected,
  parse: (text) => (text === '' ? [] : [parseNode(text)]),
  merge: (lists) => lists.flat(),
  show: (nodes) => nodes.map(({ numaNode = 0, limits = {} }) => `${numaNode}:${showLimits(limits)}`).join(','),
  // A whole number is written also where it was left out: Kubernetes has it as 0.
  write: (nodes) => nodes.map((node) => ({ numaNode: 0, ...node })),
};

const showLimits = (limits: MemoryOfNode['limits']): string =>
  Object.entries(limits)
    .map(([type, amount]) => `${type}=${amount}`)
    .join(',');

function parseNode(text: string): MemoryOfNode {
  const [node = '', amounts, ...more] = text.split(':');
  if (!/^[+-]?\d{1,9}$/.test(node) || amounts === undefined || more.length > 0) throw new ExpectedError(expected);
  return { numaNode: Number(node), limits: Object.fromEntries(amounts.split(',').map(parseAmount)) };
}

function parseAmount(text: string): readonly [string, string] {
  const [type = '', amount, ...more] = text.split('=');
  if (amount === undefined || more.length > 0) throw new ExpectedError(expected);
  if (type !== 'memory' && !type.startsWith('hugepages-'))
    throw new ExpectedError(`${expected}: ${JSON.stringify(type)} is no kind of memory`);
  try {
    return [type, Quantity.parse(amount).canonical()];
  } catch {
    throw new ExpectedError(`${expected}: ${JSON.stringify(amount)} is no quantity`);
  }
}
