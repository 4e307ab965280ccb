import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatCpuSet, parseCpuSet } from '../../../../src/model/cpu-set.ts';
import { type CpuPolicyOptions, noCpuPolicyOptions } from '../../../../src/model/cpu-policy-options.ts';
import { takeCpus } from '../../../../src/topology/cpu/take-cpus.ts';
import { type MachineShape, someMachine } from '../../../builders/machine.ts';

const spread = { distributeCpusAcrossCores: true };
const shared = { distributeCpusAcrossNuma: true };
const cores = { ...shared, fullPcpusOnly: true };
const caches = { preferAlignCpusByUncoreCache: true };

/** CPU n and n + 4 are a core. */
const laptop: MachineShape = { cores: 4, threads: 2 };
/** Sockets: 0-5,12-17 and 6-11,18-23. */
const server: MachineShape = { sockets: 2, cores: 6, threads: 2 };
/** Nodes: 0-3,16-19; 4-7,20-23 | 8-11,24-27; 12-15,28-31. */
const nps2: MachineShape = { sockets: 2, nodes: 2, cores: 4, threads: 2 };
/** Caches: 0-3,8-11; 4-7,12-15. */
const split: MachineShape = { cores: 8, threads: 2, caches: 2 };

const table: readonly (readonly [
  what: string,
  machine: MachineShape,
  options: Partial<CpuPolicyOptions>,
  free: string,
  count: number,
  taken: string,
])[] = [
  ['nothing', laptop, {}, '0-7', 0, ''],
  ['one: the first thread', laptop, {}, '0-7', 1, '0'],
  ['one: the rest of a core that is in use', laptop, {}, '1-3,5-7,4', 1, '4'],
  ['two: a core', laptop, {}, '0-7', 2, '0,4'],
  ['two: the one core that is whole', laptop, {}, '0-2,3,7', 2, '3,7'],
  ['two: threads where no core is whole', laptop, {}, '0-3', 2, '0-1'],
  ['three: a core and a thread', laptop, {}, '0-7', 3, '0-1,4'],
  ['all', laptop, {}, '0-7', 8, '0-7'],
  ['a socket of two', server, {}, '0-23', 12, '0-5,12-17'],
  ['what fits the fuller socket', server, {}, '0-1,6-11,12-13,18-23', 2, '0,12'],
  ['a socket, where one is whole', server, {}, '1-23', 12, '6-11,18-23'],
  ['a socket and a core', server, {}, '0-23', 14, '0-6,12-18'],
  ['a node of four', nps2, {}, '0-31', 8, '0-3,16-19'],
  ['a node of the socket that is in use', nps2, {}, '4-31', 8, '4-7,20-23'],
  ['a socket and a node', nps2, {}, '0-31', 24, '0-11,16-27'],
  ['spread over cores', laptop, spread, '0-7', 3, '0-2'],
  ['spread over cores of one socket', server, spread, '0-23', 8, '0-5,12-13'],
  ['evenly over two nodes', server, shared, '0-23', 16, '0-3,6-9,12-15,18-21'],
  ['in one node while that will do', server, shared, '0-23', 12, '0-5,12-17'],
  ['evenly over three of four', nps2, shared, '0-31', 18, '0-2,4-6,8-10,16-18,20-22,24-26'],
  ['shared out, the emptier socket first', nps2, shared, '0-11,16-27', 9, '0-1,8-10,16-17,24-25'],
  ['whole cores only, shared out', nps2, cores, '0-31', 10, '0-2,4-5,16-18,20-21'],
  ['packed where it cannot be shared out in whole cores', nps2, cores, '0-31', 9, '0-4,16-19'],
  ['packed where no shares are even', nps2, shared, '0-3,16-19,4', 9, '0-4,16-19'],
  ['a whole cache', split, caches, '0-15', 8, '0-3,8-11'],
  ['a part of the cache that is not whole', split, caches, '1-7,9-15', 6, '1-3,9-11'],
  ['a part of a cache in whole cores and a thread', split, caches, '0-15', 5, '0-2,8-9'],
  ['not divided where one cache has enough', split, caches, '2-3,10-11,4-7,12-15', 6, '4-6,12-14'],
  ['of both caches where none has enough', split, caches, '1-3,9-11,5-7,13-15', 8, '1-3,5,9-11,13'],
];

for (const [what, machine, options, free, count, taken] of table)
  test(`${count} of ${free}: ${what}`, () => {
    const found = takeCpus(someMachine(machine), parseCpuSet(free), count, { ...noCpuPolicyOptions, ...options });
    assert.equal(formatCpuSet(found), taken);
  });

test('more than there are cannot be taken', () => {
  for (const options of [{}, spread, shared, caches])
    assert.throws(() => takeCpus(someMachine(laptop), parseCpuSet('0-2'), 4, { ...noCpuPolicyOptions, ...options }), {
      message: 'not enough cpus available to satisfy request: requested=4, available=3',
    });
});

const shapes = fc.record({
  sockets: fc.integer({ min: 1, max: 3 }),
  nodes: fc.integer({ min: 1, max: 3 }),
  cores: fc.integer({ min: 1, max: 4 }),
  threads: fc.constantFrom(1 as const, 2 as const),
});
const anyOptions = fc.constantFrom<Partial<CpuPolicyOptions>>({}, { fullPcpusOnly: true }, spread, shared, cores, caches);

test('whatever is free and asked for: as many as asked for, of those that are free', () => {
  fc.assert(
    fc.property(
      shapes,
      anyOptions,
      fc.infiniteStream(fc.boolean()),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (shape, options, isFree, part) => {
        const machine = someMachine({ ...shape, caches: shape.cores % 2 === 0 ? 2 : 1 });
        const free = new Set([...machine.cpus].filter(() => isFree.next().value));
        const count = Math.round(free.size * part);
        const taken = takeCpus(machine, free, count, { ...noCpuPolicyOptions, ...options });
        assert.equal(taken.size, count);
        assert.ok(taken.isSubsetOf(free));
      },
    ),
  );
});

test('on a machine of 512 CPUs and 8 NUMA nodes any choice is made at once', () => {
  const machine = someMachine({ sockets: 2, nodes: 4, cores: 32, threads: 2, caches: 4 });
  assert.equal(machine.cpus.size, 512);
  // Every node has lost another part: the many ways to share out come to different sums.
  const free = new Set([...machine.cpus].filter((cpu) => cpu % (5 + (cpu % 7)) !== 0));
  const started = performance.now();
  for (const options of [{}, spread, shared, cores, caches])
    for (const count of [1, 31, 64, 200, 301]) takeCpus(machine, free, count, { ...noCpuPolicyOptions, ...options });
  assert.ok(performance.now() - started < 10_000);
});
