import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allChoices, countNodes, isNarrower, nodesOf, numaMask, type NumaMask } from '../../../src/model/numa-mask.ts';
import type { TopologyHint, TopologyHints } from '../../../src/model/topology-hint.ts';
import { mergeHints, type HintRules } from '../../../src/topology/merge-hints.ts';

const of = (nodes: readonly number[] | undefined, preferred = true): TopologyHint => ({ nodes: nodes && numaMask(nodes), preferred });
const machine = (...ids: readonly number[]): HintRules['nodes'] => ids.map((id) => ({ id, distances: undefined }));
const hints = (...lists: readonly (readonly TopologyHint[] | undefined)[]): TopologyHints =>
  new Map(lists.map((list, index) => [`resource ${index}`, list]));
const show = ({ nodes, preferred }: TopologyHint): string =>
  `${nodes === undefined ? 'any' : nodesOf(nodes).join()} ${preferred ? 'preferred' : 'not preferred'}`;
const ofTwo = (policy: HintRules['policy']): HintRules => ({ policy, nodes: machine(0, 1), preferClosest: false });

/** What each policy makes of it: best-effort, restricted, single-numa-node. */
const table: readonly (readonly [what: string, provided: readonly TopologyHints[], merged: readonly [string, string, string]])[] = [
  ['nobody has a preference', [new Map(), hints(undefined)], ['0,1 preferred', '0,1 preferred', 'any preferred']],
  ['one node', [hints([of([1]), of([0, 1], false)])], ['1 preferred', '1 preferred', '1 preferred']],
  ['either node: the lower one', [hints([of([1]), of([0])])], ['0 preferred', '0 preferred', '0 preferred']],
  ['both want the same node', [hints([of([0]), of([1])]), hints([of([1])])], ['1 preferred', '1 preferred', '1 preferred']],
  [
    'each wants another node',
    [hints([of([0])]), hints([of([1])])],
    ['0,1 not preferred', '0,1 not preferred (refused)', 'any not preferred (refused)'],
  ],
  [
    'a resource that cannot be given from anywhere',
    [hints([of([0])], [])],
    ['0 not preferred', '0 not preferred (refused)', 'any not preferred (refused)'],
  ],
  [
    'only two nodes together have enough, as they must',
    [hints([of([0, 1])])],
    ['0,1 preferred', '0,1 preferred', 'any not preferred (refused)'],
  ],
  [
    'only two nodes have enough now',
    [hints([of([0, 1], false)])],
    ['0,1 not preferred', '0,1 not preferred (refused)', 'any not preferred (refused)'],
  ],
  [
    'a preferred hint before a narrower one',
    [hints([of([0, 1]), of([0], false)])],
    ['0,1 preferred', '0,1 preferred', 'any not preferred (refused)'],
  ],
];

for (const [what, provided, merged] of table)
  for (const [index, policy] of (['best-effort', 'restricted', 'single-numa-node'] as const).entries())
    test(`${policy}: ${what}`, () => {
      const { hint, admitted } = mergeHints(provided, ofTwo(policy));
      assert.equal(`${show(hint)}${admitted ? '' : ' (refused)'}`, merged[index]);
    });

test('of as many nodes those that are nearer to each other, where that is asked for', () => {
  const nodes = [
    { id: 0, distances: [10, 20, 12] },
    { id: 4, distances: [20, 10, 20] },
    { id: 8, distances: [12, 20, 10] },
  ];
  const provided = [hints([of([0, 4]), of([4, 8]), of([0, 8])])];
  assert.equal(show(mergeHints(provided, { policy: 'best-effort', nodes, preferClosest: true }).hint), '0,8 preferred');
  assert.equal(show(mergeHints(provided, { policy: 'best-effort', nodes, preferClosest: false }).hint), '0,4 preferred');
});

test('what is not preferred comes from as many nodes as one resource needs', () => {
  const rules: HintRules = { policy: 'best-effort', nodes: machine(0, 1, 2, 3), preferClosest: false };
  const provided = [hints([of([0, 1, 2, 3], false), of([0, 1], false)]), hints([of([0], false), of([0, 1], false)])];
  assert.equal(show(mergeHints(provided, rules).hint), '0,1 not preferred');
});

/** Each combination by itself, one after the other, as the kubelet compares them. */
function oneByOne(lists: readonly (readonly TopologyHint[])[], every: NumaMask): TopologyHint {
  const narrowest = lists.map((list) => Math.min(...list.map(({ nodes }) => (nodes === undefined ? 0 : countNodes(nodes)))));
  const wanted = Math.max(0, ...narrowest);
  const narrower = (current: TopologyHint & { nodes: NumaMask }, candidate: typeof current): typeof current =>
    isNarrower(candidate.nodes, current.nodes) ? candidate : current;
  let best: (TopologyHint & { nodes: NumaMask }) | undefined;
  const walk = (index: number, chosen: readonly TopologyHint[]): void => {
    const list = lists[index];
    if (list) {
      for (const hint of list) walk(index + 1, [...chosen, hint]);
      return;
    }
    const named = chosen.flatMap(({ nodes }) => (nodes === undefined ? [] : [nodes]));
    const nodes = named.reduce((all, each) => (all & each) as NumaMask, every);
    const candidate = { nodes, preferred: chosen.every(({ preferred }) => preferred) && new Set(named).size < 2 };
    if (nodes === 0n) return;
    if (!best || (candidate.preferred && !best.preferred)) best = candidate;
    else if (best.preferred && !candidate.preferred) return;
    else if (best.preferred) best = narrower(best, candidate);
    else {
      const [now, then] = [countNodes(best.nodes), countNodes(nodes)];
      if (now > wanted) best = narrower(best, candidate);
      else if (now === wanted) best = then === wanted ? narrower(best, candidate) : best;
      else if (then > wanted || then < now) return;
      else best = then > now ? candidate : narrower(best, candidate);
    }
  };
  walk(0, []);
  return best ?? { nodes: every, preferred: false };
}

test('the merged hint is that of all combinations, one by one', () => {
  const masks = [...allChoices([0, 1, 2, 3])].map(numaMask);
  const hint = fc.record({ nodes: fc.constantFrom(...masks), preferred: fc.boolean() });
  const list = fc.array(hint, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 3 }), (lists) => {
      const rules: HintRules = { policy: 'restricted', nodes: machine(0, 1, 2, 3), preferClosest: false };
      const expected = oneByOne(lists, numaMask([0, 1, 2, 3]));
      assert.deepEqual(
        mergeHints(
          lists.map((each) => hints(each)),
          rules,
        ),
        { hint: expected, admitted: expected.preferred },
      );
    }),
    { numRuns: 1000 },
  );
});

test('three resources of 8 NUMA nodes, each with all choices, are merged at once', () => {
  const every = [...allChoices([0, 1, 2, 3, 4, 5, 6, 7])].map((nodes) => of(nodes, nodes.length === 2));
  const started = performance.now();
  const { hint } = mergeHints([hints(every, every, every)], {
    policy: 'restricted',
    nodes: machine(0, 1, 2, 3, 4, 5, 6, 7),
    preferClosest: false,
  });
  assert.equal(show(hint), '0,1 preferred');
  assert.ok(performance.now() - started < 10_000);
});
