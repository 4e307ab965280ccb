import type { MemoryAmounts } from '../../model/guaranteed-memory.ts';
import { allChoices, bothMasks, isNarrower, type NumaMask, numaMask } from '../../model/numa-mask.ts';
import type { TopologyHint } from '../../model/topology-hint.ts';
import { type NodeMemories, sameNodes, sumOf } from './node-memory.ts';

/** As a hint, and never from anywhere. */
export interface MemoryHint extends TopologyHint {
  readonly nodes: NumaMask;
}

/** What init containers of the same pod have from exactly these nodes, and will have no need of any more. */
export type Reusable = (nodes: readonly number[], type: string) => number;

/**
 * Each choice of NUMA nodes with enough free memory of each kind; those of as few nodes as would do on an empty machine are preferred
 * (staticPolicy.calculateHints). A node gives memory alone or with the same others at all times, never both.
 */
export function memoryHints(nodes: NodeMemories, asked: MemoryAmounts, reusable: Reusable): readonly MemoryHint[] {
  const ids = [...nodes.keys()].toSorted((a, b) => a - b);
  const amounts = [...asked];
  let fewest = ids.length;
  const fitting: (readonly number[])[] = [];
  for (const choice of allChoices(ids)) {
    if (amounts.some(([type, size]) => sumOf(nodes, choice, type, 'allocatable') < size)) continue;
    fewest = Math.min(fewest, choice.length);
    if (mixesGroups(nodes, choice)) continue;
    const hasRoom = ([type, size]: readonly [string, number]): boolean =>
      sumOf(nodes, choice, type, 'free') + reusable(choice, type) >= size;
    if (amounts.every(hasRoom)) fitting.push(choice);
  }
  return fitting.map((choice) => ({ nodes: numaMask(choice), preferred: choice.length === fewest }));
}

/** Whether nodes of this choice give memory in other company already. */
export function mixesGroups(nodes: NodeMemories, choice: readonly number[]): boolean {
  return choice.some((id) => {
    const node = nodes.get(id);
    return node !== undefined && node.assignments > 0 && !sameNodes(node.group, choice);
  });
}

/** The narrowest, preferred ones first (findBestHint); of those that have all of `within`. Undefined: there is none. */
export function bestHint(hints: readonly MemoryHint[], within: NumaMask): MemoryHint | undefined {
  let best: MemoryHint | undefined;
  for (const hint of hints) {
    if (bothMasks(hint.nodes, within) !== within) continue;
    if (!best || (hint.preferred === best.preferred ? isNarrower(hint.nodes, best.nodes) : hint.preferred)) best = hint;
  }
  return best;
}
