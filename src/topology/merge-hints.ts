import { bothMasks, countNodes, isNarrower, nodesOf, type NumaMask, numaMask } from '../model/numa-mask.ts';
import type { TopologyHint, TopologyHints } from '../model/topology-hint.ts';
import type { NumaNode } from './machine-topology.ts';

export type TopologyPolicy = 'none' | 'best-effort' | 'restricted' | 'single-numa-node';

export interface HintRules {
  readonly policy: Exclude<TopologyPolicy, 'none'>;
  readonly nodes: readonly Pick<NumaNode, 'id' | 'distances'>[];
  /** Of as many nodes those that are nearer to each other (prefer-closest-numa-nodes). */
  readonly preferClosest: boolean;
}

export interface MergedHint {
  readonly hint: TopologyHint;
  /** Whether the policy lets a container with this hint run. */
  readonly admitted: boolean;
}

/** Those that can be merged into one: what counts of them is no more than this. */
interface Candidate {
  readonly nodes: NumaMask;
  readonly preferred: boolean;
  /** Of a preferred one: the nodes that all of its hints name; undefined: none of them names any. */
  readonly named: NumaMask | undefined;
}

/**
 * The one hint that suits all resources best: of each combination the nodes that all have in common, the combination being preferred where
 * all are and name the same nodes (HintMerger in pkg/kubelet/cm/topologymanager). Combinations that come to the same are gone through once.
 */
export function mergeHints(provided: readonly TopologyHints[], rules: HintRules): MergedHint {
  const every = numaMask(rules.nodes.map(({ id }) => id));
  const all = provided.flatMap(listsOf);
  const lists = rules.policy === 'single-numa-node' ? all.map((hints) => hints.filter(isOfOneNode)) : all;
  const best = bestOf(lists, every, rules);
  const preferred = best?.preferred ?? false;
  const nodes = best?.nodes ?? every;
  const hint = { nodes: rules.policy === 'single-numa-node' && nodes === every ? undefined : nodes, preferred };
  return { hint, admitted: rules.policy === 'best-effort' || preferred };
}

const anywhere: TopologyHint = { nodes: undefined, preferred: true };
const nowhere: TopologyHint = { nodes: undefined, preferred: false };

function listsOf(hints: TopologyHints): readonly (readonly TopologyHint[])[] {
  if (hints.size === 0) return [[anywhere]];
  return [...hints.values()].map((list) => (list === undefined ? [anywhere] : list.length === 0 ? [nowhere] : list));
}

const isOfOneNode = ({ nodes, preferred }: TopologyHint): boolean => preferred && (nodes === undefined || countNodes(nodes) === 1);

function bestOf(lists: readonly (readonly TopologyHint[])[], every: NumaMask, rules: HintRules): Candidate | undefined {
  const isBetter = comparison(mostThatOneNeeds(lists), rules);
  let best: Candidate | undefined;
  for (const candidate of combine(lists, every)) if (candidate.nodes !== 0n && (!best || isBetter(candidate, best))) best = candidate;
  return best;
}

function combine(lists: readonly (readonly TopologyHint[])[], every: NumaMask): Iterable<Candidate> {
  let found: ReadonlyMap<string, Candidate> = new Map([['', { nodes: every, preferred: true, named: undefined }]]);
  for (const hints of lists) {
    const next = new Map<string, Candidate>();
    for (const candidate of found.values())
      for (const hint of hints) {
        const combined = withHint(candidate, hint);
        next.set(`${combined.nodes} ${combined.preferred} ${combined.named ?? ''}`, combined);
      }
    found = next;
  }
  return found.values();
}

function withHint({ nodes, preferred, named }: Candidate, hint: TopologyHint): Candidate {
  const agrees = hint.nodes === undefined || named === undefined || hint.nodes === named;
  const staysPreferred = preferred && hint.preferred && agrees;
  return {
    nodes: hint.nodes === undefined ? nodes : bothMasks(nodes, hint.nodes),
    preferred: staysPreferred,
    named: staysPreferred ? (named ?? hint.nodes) : undefined,
  };
}

/** How many nodes the resource needs that needs the most (maxOfMinAffinityCounts). */
function mostThatOneNeeds(lists: readonly (readonly TopologyHint[])[]): number {
  const fewest = lists.map((hints) => {
    const counts = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [countNodes(nodes)]));
    return counts.length === 0 ? 0 : Math.min(...counts);
  });
  return Math.max(0, ...fewest);
}

/** Preferred ones first, the narrowest of them; of others those of as many nodes as one resource needs, else fewer than that rather than more. */
function comparison(wanted: number, rules: HintRules): (one: Candidate, than: Candidate) => boolean {
  const distance = averageDistance(rules);
  const closest = rules.preferClosest && rules.policy !== 'single-numa-node';
  const isFitter = (one: NumaMask, than: NumaMask): boolean => {
    if (!closest || countNodes(one) !== countNodes(than)) return isNarrower(one, than);
    const [own, others] = [distance(one), distance(than)];
    return own === others ? one < than : own < others;
  };
  return (one, than) => {
    if (one.preferred !== than.preferred) return one.preferred;
    const [own, others] = [countNodes(one.nodes), countNodes(than.nodes)];
    if (one.preferred || own === others) return isFitter(one.nodes, than.nodes);
    if (others > wanted) return own < others;
    return own <= wanted && own > others;
  };
}

function averageDistance({ nodes: all }: HintRules): (mask: NumaMask) => number {
  const places = new Map(
    all
      .map(({ id }) => id)
      .toSorted((a, b) => a - b)
      .map((id, place) => [id, place]),
  );
  const distancesOf = new Map(all.map(({ id, distances }) => [id, distances]));
  return (mask) => {
    const nodes = nodesOf(mask);
    const sum = nodes
      .flatMap((from) => nodes.map((to) => distancesOf.get(from)?.[places.get(to) ?? -1] ?? 0))
      .reduce((total, each) => total + each, 0);
    return sum / nodes.length ** 2;
  };
}
