import type { AgentClient } from '../../src/cli/agent-client.ts';

/** A heap snapshot as V8 writes it: nodes and edges are rows of numbers, one after the other, with a node's edges in the order of nodes. */
interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: string[]; readonly edge_fields: string[]; readonly edge_types: readonly [readonly string[]] };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

export interface HeldText {
  /** Its first 300 characters. */
  readonly text: string;
  /** The shortest way to it from the heap's root: "Owner.kept > Map.table > …". */
  readonly by: string;
}

/**
 * The texts in the agent's memory that have one of `parts` in them, the first `limit` of them, by its own /debug/pprof/heap: V8 collects all
 * garbage before it writes it down.
 */
export async function heldTexts(agent: Pick<AgentClient, 'json'>, parts: readonly string[], limit = 10): Promise<readonly HeldText[]> {
  const heap = (await agent.json('/debug/pprof/heap')) as HeapSnapshot;
  const found = heap.strings.flatMap((text, at) => (parts.some((part) => text.includes(part)) ? [at] : [])).slice(0, limit);
  if (found.length === 0) return [];
  const ways = waysTo(new Set(found), heap);
  return found.map((at) => ({ text: (heap.strings[at] ?? '').slice(0, 300), by: ways.get(at) ?? 'nothing that can be reached' }));
}

/** For each text the way to the first object, or the first property, that is called so. */
function waysTo(texts: ReadonlySet<number>, { snapshot, nodes, edges, strings }: HeapSnapshot): ReadonlyMap<number, string> {
  const { node_fields: ofNode, edge_fields: ofEdge, edge_types: types } = snapshot.meta;
  const [nodeName, edgeCount] = [ofNode.indexOf('name'), ofNode.indexOf('edge_count')];
  const [edgeType, edgeName, edgeTo] = ['type', 'name_or_index', 'to_node'].map((field) => ofEdge.indexOf(field)) as [
    number,
    number,
    number,
  ];
  const typesOf = (...names: readonly string[]): ReadonlySet<number> =>
    new Set(types[0].flatMap((type, at) => (names.includes(type) ? [at] : [])));
  const [numbered, weak] = [typesOf('element', 'hidden'), typesOf('weak')];
  const at = (of: readonly number[], index: number): number => of[index] ?? 0;

  const firstEdge: number[] = [];
  for (let node = 0, edge = 0; node < nodes.length; node += ofNode.length) {
    firstEdge[node] = edge;
    edge += at(nodes, node + edgeCount) * ofEdge.length;
  }
  const isNumbered = (edge: number): boolean => numbered.has(at(edges, edge + edgeType));
  const named = (name: number): string => (strings[name] ?? '').slice(0, 80);
  const nodeText = (node: number): string => named(at(nodes, node + nodeName));
  const edgeText = (edge: number): string => {
    const name = at(edges, edge + edgeName);
    return isNumbered(edge) ? `[${name}]` : `.${named(name)}`;
  };

  const ways = new Map<number, string>();
  const cameBy = new Map<number, { readonly from: number; readonly edge: number }>([[0, { from: 0, edge: 0 }]]);
  const found = (name: number, node: number, last: string): void => {
    if (!texts.has(name) || ways.has(name)) return;
    const way = [last];
    for (let to = node; to !== 0;) {
      const { from, edge } = cameBy.get(to) ?? { from: 0, edge: 0 };
      way.unshift(nodeText(from) + edgeText(edge));
      to = from;
    }
    ways.set(name, way.join(' > '));
  };
  // Breadth first, in the order in which they are found.
  for (const [node] of cameBy) {
    if (ways.size === texts.size) break;
    found(at(nodes, node + nodeName), node, nodeText(node));
    const first = at(firstEdge, node);
    const end = first + at(nodes, node + edgeCount) * ofEdge.length;
    for (let edge = first; edge < end; edge += ofEdge.length) {
      if (weak.has(at(edges, edge + edgeType))) continue;
      if (!isNumbered(edge)) found(at(edges, edge + edgeName), node, nodeText(node) + edgeText(edge));
      const to = at(edges, edge + edgeTo);
      if (!cameBy.has(to)) cameBy.set(to, { from: node, edge });
    }
  }
  return ways;
}
