import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodesOf, numaMask } from '../../../../src/model/numa-mask.ts';
import type { Container, Pod, PodUid } from '../../../../src/model/pod.ts';
import type { TopologyHint, TopologyHints } from '../../../../src/model/topology-hint.ts';
import { MemoryAllocations } from '../../../../src/topology/memory/memory-allocations.ts';
import { unassignedMemory } from '../../../../src/topology/memory/node-memory.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { someMachine } from '../../../builders/machine.ts';

const MIB = 2 ** 20;

/** Nodes of 100 MiB each, with 10 huge pages of 1 MiB where that is said; 10 MiB of the first are reserved. */
function allocations({ nodes = 2, pages = 0 }: { nodes?: number; pages?: number } = {}): MemoryAllocations {
  const hugePages = pages === 0 ? [] : [{ pageSizeKiB: 1024, pages }];
  const machine = someMachine({ nodes, memoryBytes: 100 * MIB, hugePages });
  const reserved = new Map([[0, new Map([['memory', 10 * MIB]])]]);
  return new MemoryAllocations({ unassigned: unassignedMemory(machine.nodes, reserved) });
}

const asking = (name: string, mebibytes: number, more: object = {}, pages = 0) => {
  const amounts = { cpu: '100m', memory: `${mebibytes}Mi`, ...(pages > 0 && { 'hugepages-1Mi': `${pages}Mi` }) };
  return aContainer(name, { resources: { requests: amounts, limits: amounts }, ...more });
};
const pod = (name: string, ...mebibytes: readonly number[]): Pod =>
  aPod(name, { containers: mebibytes.map((size, index) => asking(`c${index}`, size)) });
const from = (nodes: readonly number[] | undefined, preferred = true): TopologyHint => ({
  nodes: nodes && numaMask(nodes),
  preferred,
});
const anywhere = from(undefined, false);

/** The nodes of each container, or why it has none. */
function allocate(all: MemoryAllocations, each: Pod, hint = anywhere): readonly string[] {
  return [...(each.spec.initContainers ?? []), ...each.spec.containers].map((container) => {
    const refusal = all.allocate(each, container, hint);
    return refusal ? `${refusal.reason}: ${refusal.message}` : all.nodesOf(each.metadata.uid, container.name).join();
  });
}
/** What nodes have left: "0: 90, 1: 100". */
const free = (all: MemoryAllocations, type = 'memory'): string =>
  [...all.nodes].map(([id, { tables }]) => `${id}: ${(tables.get(type)?.free ?? 0) / MIB}`).join(', ');
const show = (hints: TopologyHints): readonly string[] =>
  [...hints].flatMap(([name, list]) =>
    (list ?? []).map(({ nodes, preferred }) => `${name} ${nodes === undefined ? 'any' : nodesOf(nodes).join()} ${preferred}`),
  );
const failed = (why: string): string => `UnexpectedAdmissionError: Allocate failed due to [memorymanager] ${why}, which is unexpected`;

test('memory of a Guaranteed pod comes from as few nodes as will do, and is free again when the pod is released', () => {
  const all = allocations();
  assert.equal(free(all), '0: 90, 1: 100');
  assert.deepEqual(allocate(all, pod('a', 60)), ['0']);
  assert.deepEqual(allocate(all, pod('b', 60, 40)), ['1', '1']);
  assert.equal(free(all), '0: 30, 1: 0');
  assert.deepEqual(allocate(all, pod('c', 31)), [
    failed('failed to get the default NUMA affinity, no NUMA nodes with enough memory is available'),
  ]);
  assert.ok(all.release('uid-b' as PodUid));
  assert.ok(!all.release('uid-b' as PodUid));
  assert.equal(free(all), '0: 30, 1: 100');
});

test('all others have their memory from anywhere', () => {
  const all = allocations();
  const whole = { requests: { cpu: '2', memory: '1Mi' }, limits: { cpu: '2', memory: '1Mi' } };
  const burstable = aContainer('app', { resources: { requests: { memory: '1Mi' } } });
  for (const other of [
    aPod('besteffort'),
    aPod('burstable', { containers: [burstable] }),
    aPod('as-a-whole', { resources: whole, containers: [asking('app', 1)] }),
  ]) {
    assert.deepEqual(allocate(all, other), ['']);
    assert.equal(all.podHints(other).size, 0);
    assert.ok(other.spec.containers.every((container) => all.hints(other, container).size === 0));
  }
  assert.equal(free(all), '0: 90, 1: 100');
});

test('what one node does not have comes from several, which then give memory together only', () => {
  const all = allocations({ nodes: 3 });
  assert.deepEqual(allocate(all, pod('large', 150)), ['0,1']);
  assert.equal(free(all), '0: 0, 1: 40, 2: 100');
  assert.deepEqual(show(all.hints(pod('a', 10), asking('c0', 10))), ['memory 2 true', 'memory 0,1 false']);
  assert.deepEqual(allocate(all, pod('a', 10)), ['2']);
  assert.deepEqual(allocate(all, pod('b', 95)), [
    failed('failed to get the default NUMA affinity, no NUMA nodes with enough memory is available'),
  ]);
  assert.deepEqual(allocate(all, pod('c', 40), from([0, 1])), ['0,1']);
  all.release('uid-large' as PodUid);
  assert.deepEqual(show(all.hints(pod('d', 10), asking('c0', 10))), ['memory 2 true', 'memory 0,1 false'], 'c is still from both');
  all.release('uid-c' as PodUid);
  assert.deepEqual(show(all.hints(pod('d', 10), asking('c0', 10))), [
    'memory 0 true',
    'memory 1 true',
    'memory 2 true',
    'memory 0,1 false',
  ]);
});

test('hints name the nodes with enough free memory of each kind; preferred are as few as would do', () => {
  const all = allocations({ pages: 10 });
  const both = aPod('both', { containers: [asking('app', 50, {}, 8)] });
  const [app = asking('app', 0)] = both.spec.containers;
  assert.deepEqual(show(all.hints(both, app)), [
    'memory 0 true',
    'memory 1 true',
    'memory 0,1 false',
    'hugepages-1Mi 0 true',
    'hugepages-1Mi 1 true',
    'hugepages-1Mi 0,1 false',
  ]);
  assert.deepEqual(allocate(all, both, from([1])), ['1']);
  assert.deepEqual([free(all), free(all, 'hugepages-1Mi')], ['0: 80, 1: 40', '0: 10, 1: 2']);
  assert.deepEqual(show(all.hints(both, app)), ['memory 1 true', 'hugepages-1Mi 1 true'], 'where it is already');
  assert.deepEqual(show(all.podHints(both)), ['memory 1 true', 'hugepages-1Mi 1 true']);
  assert.equal(all.hints(both, asking('app', 51)).size, 0, 'other than it has');
  const many = aPod('many', { containers: [asking('app', 1, {}, 3)] });
  assert.deepEqual(show(all.podHints(many)), ['memory 0 true', 'hugepages-1Mi 0 true']);
  assert.equal(all.podHints(aPod('too-many', { containers: [asking('app', 1, {}, 21)] })).size, 0, 'no room at all');
});

test('a hint that does not do is extended by more nodes', () => {
  const all = allocations();
  assert.deepEqual(allocate(all, pod('a', 95), from([0], false)), ['0,1']);
  assert.deepEqual(allocate(all, pod('b', 95), from([0, 1], false)), ['0,1']);
  all.release('uid-a' as PodUid);
  all.release('uid-b' as PodUid);
  assert.deepEqual(allocate(all, pod('c', 95), from([0])), [failed('failed to find the extended preferred hint')]);
  assert.deepEqual(allocate(all, pod('d', 200), from([0])), [failed('failed to find NUMA nodes to extend the current topology hint')]);
  allocate(all, pod('e', 10), from([0]));
  assert.deepEqual(allocate(all, pod('f', 95), from(undefined)), ['1'], 'the preferred one by default');
  assert.deepEqual(allocate(all, pod('g', 4), from([0, 1])), [failed('preferred hint violates NUMA node allocation')]);
});

test('what is preferred is not replaced by what is not', () => {
  const all = allocations();
  for (const name of ['a', 'b']) allocate(all, pod(name, 80), anywhere);
  all.release('uid-a' as PodUid);
  all.release('uid-b' as PodUid);
  assert.deepEqual(allocate(all, pod('large', 120)), ['0,1']);
  assert.deepEqual(allocate(all, pod('small', 10), from(undefined)), [failed('failed to find the default preferred hint')]);
});

test('a node of a group gives nothing by itself, also where a hint names it alone', () => {
  const all = allocations();
  assert.deepEqual(allocate(all, pod('large', 95), from([0, 1], false)), ['0,1']);
  assert.deepEqual(allocate(all, pod('small', 10), from([1], false)), ['0,1']);
});

test('what init containers had is taken over by the next ones, but not from sidecars', () => {
  const all = allocations();
  const several = aPod('several', {
    initContainers: [asking('first', 40), asking('sidecar', 10, { restartPolicy: 'Always' }), asking('last', 50)],
    containers: [asking('app', 30), asking('other', 30)],
  });
  assert.deepEqual(allocate(all, several), ['0', '0', '0', '0', '0']);
  // The sidecar has 10 of the first one's 40; the last one needs 20 more; the apps need 10 more.
  assert.equal(free(all), '0: 20, 1: 100');
  assert.deepEqual(allocate(all, several), ['0', '0', '0', '0', '0'], 'once is enough');
  assert.equal(free(all), '0: 20, 1: 100');
  all.release('uid-several' as PodUid);
  assert.equal(free(all), '0: 90, 1: 100');
});

test('of other nodes than the init containers had nothing is taken over', () => {
  const all = allocations();
  const two = aPod('two', { initContainers: [asking('init', 40)], containers: [asking('app', 40)] });
  const [init = asking('', 0)] = two.spec.initContainers ?? [];
  const [app = asking('', 0)] = two.spec.containers;
  all.allocate(two, init, from([0]));
  all.allocate(two, app, from([1]));
  assert.equal(free(all), '0: 50, 1: 60');
});

test('as a whole a pod needs what its containers have at one time', () => {
  const all = allocations();
  const init = asking('init', 95);
  const sidecar = asking('sidecar', 6, { restartPolicy: 'Always' });
  const hints = (initContainers: readonly Container[], app: number): readonly string[] =>
    show(all.podHints(aPod('a', { initContainers, containers: [asking('app', app)] })));
  assert.deepEqual(hints([init], 20), ['memory 1 true', 'memory 0,1 false']);
  assert.deepEqual(hints([sidecar, init], 20), ['memory 0,1 true']);
  assert.deepEqual(hints([sidecar], 95), ['memory 0,1 true']);
  assert.deepEqual(hints([asking('sidecar', 5, { restartPolicy: 'Always' })], 95), ['memory 1 true', 'memory 0,1 false']);
});

test('huge pages that no node has are refused, and amounts are exact', () => {
  const all = allocations();
  const pages = aPod('pages', { containers: [asking('app', 1, {}, 1)] });
  assert.deepEqual(allocate(all, pages), [
    failed('failed to get the default NUMA affinity, no NUMA nodes with enough memory is available'),
  ]);
  const odd = aContainer('app', {
    resources: { requests: { cpu: '1', memory: '1.5Mi' }, limits: { cpu: '1', memory: '1.5Mi' } },
  });
  assert.deepEqual(allocate(all, aPod('odd', { containers: [odd] })), ['0']);
  assert.equal(free(all), '0: 88.5, 1: 100');
  const huge = aContainer('app', { resources: { requests: { cpu: '1', memory: '8Ei' }, limits: { cpu: '1', memory: '8Ei' } } });
  assert.match(allocate(all, aPod('huge', { containers: [huge] })).join(), /no NUMA nodes with enough memory/);
});
