import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CpuSet, formatCpuSet, parseCpuSet } from '../../../../src/model/cpu-set.ts';
import { nodesOf, numaMask } from '../../../../src/model/numa-mask.ts';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import type { TopologyHint, TopologyHints } from '../../../../src/model/topology-hint.ts';
import { type CpuAssignments, CpuAllocations, cpuAssignmentsFault } from '../../../../src/topology/cpu/cpu-allocations.ts';
import { type CpuPolicyOptions, noCpuPolicyOptions } from '../../../../src/model/cpu-policy-options.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { type MachineShape, someMachine } from '../../../builders/machine.ts';

/** CPU n and n + 4 are a core. */
const laptop: MachineShape = { cores: 4, threads: 2 };
/** Nodes: 0-3,8-11 and 4-7,12-15. */
const server: MachineShape = { sockets: 2, cores: 4, threads: 2 };

interface Given {
  readonly shape?: MachineShape;
  readonly reserved?: string;
  readonly options?: Partial<CpuPolicyOptions>;
  readonly restored?: CpuAssignments;
}

const partsOf = ({ shape = laptop, reserved = '0', options = {}, restored }: Given) => ({
  machine: someMachine(shape),
  reserved: parseCpuSet(reserved),
  options: { ...noCpuPolicyOptions, ...options },
  restored,
});
const allocations = (given: Given = {}): CpuAllocations => new CpuAllocations(partsOf(given));

const asking = (name: string, cpu: string, more: object = {}) =>
  aContainer(name, { resources: { requests: { cpu, memory: '1Mi' }, limits: { cpu, memory: '1Mi' } }, ...more });
const pod = (name: string, cpu: string): Pod => aPod(name, { containers: [asking('app', cpu)] });
const anywhere: TopologyHint = { nodes: undefined, preferred: true };

/** Each container's CPUs, or why it gets none. */
function allocate(all: CpuAllocations, each: Pod, hint = anywhere): readonly string[] {
  return [...(each.spec.initContainers ?? []), ...each.spec.containers].map((container) => {
    const refusal = all.allocate(each, container, hint);
    return refusal
      ? `${refusal.reason}: ${refusal.message}`
      : formatCpuSet(all.exclusiveOf(each.metadata.uid, container.name) ?? new Set());
  });
}
const shared = (all: CpuAllocations): string => formatCpuSet(all.assignments.shared);
const show = (hints: TopologyHints): readonly string[] =>
  [...hints].flatMap(([name, list]) =>
    (list ?? []).map(({ nodes, preferred }) => `${name} ${nodes === undefined ? 'any' : nodesOf(nodes).join()} ${preferred}`),
  );

test('whole CPUs of a Guaranteed pod are its own, never reserved ones', () => {
  const all = allocations();
  assert.equal(shared(all), '0-7');
  assert.deepEqual(allocate(all, pod('a', '2')), ['1,5']);
  assert.deepEqual(allocate(all, pod('b', '3')), ['2,4,6']);
  assert.equal(shared(all), '0,3,7');
  assert.deepEqual(allocate(all, pod('c', '3')), [
    'UnexpectedAdmissionError: Allocate failed due to not enough cpus available to satisfy request: requested=3, available=2, which is unexpected',
  ]);
  assert.equal(shared(all), '0,3,7');
  assert.ok(all.release('uid-a' as PodUid));
  assert.ok(!all.release('uid-a' as PodUid));
  assert.equal(shared(all), '0-1,3,5,7');
});

test('all others run on the shared ones', () => {
  const all = allocations();
  const burstable = aContainer('app', { resources: { requests: { cpu: '1' } } });
  const whole = { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } };
  assert.deepEqual(allocate(all, pod('fraction', '1500m')), ['']);
  assert.deepEqual(allocate(all, aPod('burstable', { containers: [burstable] })), ['']);
  assert.deepEqual(allocate(all, aPod('besteffort')), ['']);
  assert.deepEqual(allocate(all, aPod('as-a-whole', { resources: whole, containers: [asking('app', '1')] })), ['']);
  assert.equal(show(all.hints(pod('fraction', '1500m'), asking('app', '1500m'))).length, 0);
  assert.equal(shared(all), '0-7');
  assert.deepEqual(allocate(all, aPod('mixed', { containers: [asking('own', '1'), asking('shares', '500m')] })), ['4', '']);
});

test('what init containers had is taken over by the next ones, but not from sidecars', () => {
  const all = allocations({ shape: server });
  const several = aPod('several', {
    initContainers: [asking('first', '4'), asking('sidecar', '2', { restartPolicy: 'Always' }), asking('last', '3')],
    containers: [asking('app', '2'), asking('other', '1')],
  });
  const [first = '', sidecar = '', last = '', app = '', other = ''] = allocate(all, several);
  assert.equal(first, '1-2,9-10');
  assert.ok(!parseCpuSet(sidecar).isDisjointFrom(parseCpuSet(first)), 'what has ended is free for the sidecar');
  for (const later of [last, app, other]) assert.ok(parseCpuSet(later).isDisjointFrom(parseCpuSet(sidecar)));
  assert.ok(parseCpuSet(app).isDisjointFrom(parseCpuSet(other)));
  assert.equal(all.exclusive.size, parseCpuSet([first, sidecar, last, app, other].join()).size);
  all.release('uid-several' as PodUid);
  assert.equal(shared(all), '0-15');
});

test('what was allocated stays when it is asked for again', () => {
  const all = allocations();
  const withInit = aPod('a', { initContainers: [asking('init', '2')], containers: [asking('app', '2')] });
  const before = allocate(all, withInit);
  assert.deepEqual(before, ['1,5', '1,5']);
  assert.deepEqual(allocate(all, withInit), before);
  const restored = allocations({ restored: all.assignments });
  assert.deepEqual(allocate(restored, withInit), before);
  assert.equal(shared(restored), '0,2-4,6-7');
});

test('the nodes of the hint come first, the others when these are used up', () => {
  const second = { nodes: numaMask([1]), preferred: true };
  const all = allocations({ shape: server });
  assert.deepEqual(allocate(all, pod('a', '4'), second), ['4-5,12-13']);
  assert.deepEqual(allocate(all, pod('b', '6'), second), ['1,6-7,9,14-15']);
});

test('hints name the nodes with enough free CPUs; preferred are as few as would do', () => {
  const all = allocations({ shape: server });
  assert.deepEqual(show(all.hints(pod('a', '8'), asking('app', '8'))), ['cpu 1 true', 'cpu 0,1 false']);
  assert.deepEqual(show(all.hints(pod('a', '9'), asking('app', '9'))), ['cpu 0,1 true']);
  assert.deepEqual(show(all.hints(pod('a', '16'), asking('app', '16'))), []);
  assert.deepEqual([...all.hints(pod('a', '16'), asking('app', '16')).keys()], ['cpu']);
  const own = pod('own', '2');
  allocate(all, own, { nodes: numaMask([1]), preferred: true });
  assert.deepEqual(show(all.hints(own, asking('app', '2'))), ['cpu 1 true', 'cpu 0,1 false']);
  assert.deepEqual(show(all.podHints(own)), ['cpu 1 true', 'cpu 0,1 false']);
  assert.deepEqual(show(all.hints(own, asking('app', '3'))), [], 'other than it has');
});

test('as a whole a pod needs what its containers have at one time', () => {
  const all = allocations({ shape: server });
  const init = asking('init', '8');
  const sidecar = asking('sidecar', '1', { restartPolicy: 'Always' });
  assert.deepEqual(show(all.podHints(aPod('a', { initContainers: [init], containers: [asking('app', '2')] }))), [
    'cpu 1 true',
    'cpu 0,1 false',
  ]);
  assert.deepEqual(show(all.podHints(aPod('b', { initContainers: [sidecar, init], containers: [asking('app', '2')] }))), ['cpu 0,1 true']);
  assert.deepEqual(show(all.podHints(aPod('c', { initContainers: [sidecar], containers: [asking('app', '8')] }))), ['cpu 0,1 true']);
});

test('full-pcpus-only gives whole cores, none with a reserved thread', () => {
  const all = allocations({ options: { fullPcpusOnly: true } });
  assert.deepEqual(allocate(all, pod('odd', '3')), [
    'SMTAlignmentError: SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2',
  ]);
  assert.deepEqual(allocate(all, pod('a', '4')), ['1-2,5-6']);
  assert.deepEqual(allocate(all, pod('b', '4')), [
    'SMTAlignmentError: SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 2, requested CPUs = 4, CPUs per core = 2',
  ]);
  assert.deepEqual(allocate(all, pod('a', '4')), ['1-2,5-6'], 'what it has');
});

test('align-by-socket takes CPUs of the whole socket, and prefers hints that stay on it', () => {
  // Nodes: 0-1 2-3 | 4-5 6-7.
  const shape = { sockets: 2, nodes: 2, cores: 2 };
  const first = { nodes: numaMask([1]), preferred: true };
  assert.deepEqual(allocate(allocations({ shape }), pod('a', '3'), first), ['1-3']);
  assert.deepEqual(allocate(allocations({ shape, options: { alignBySocket: true } }), pod('a', '3'), first), ['1-3']);
  assert.deepEqual(allocate(allocations({ shape, options: { alignBySocket: true } }), pod('a', '2'), first), ['2-3']);
  const preferred = (options: Partial<CpuPolicyOptions>): readonly string[] =>
    show(allocations({ shape, options }).hints(pod('a', '2'), asking('app', '2'))).filter((hint) => hint.endsWith('true'));
  assert.deepEqual(preferred({}), ['cpu 1 true', 'cpu 2 true', 'cpu 3 true']);
  assert.deepEqual(preferred({ alignBySocket: true }), ['cpu 1 true', 'cpu 2 true', 'cpu 3 true', 'cpu 0,1 true', 'cpu 2,3 true']);
});

test('strict-cpu-reservation keeps all others off the reserved CPUs', () => {
  const all = allocations({ reserved: '0,4', options: { strictCpuReservation: true } });
  assert.equal(shared(all), '1-3,5-7');
  assert.deepEqual(allocate(all, pod('a', '2')), ['1,5']);
  all.release('uid-a' as PodUid);
  assert.equal(shared(all), '1-3,5-7');
  assert.equal(formatCpuSet(all.shared), '1-3,5-7');
  assert.deepEqual(allocate(all, pod('b', '6')), ['1-3,5-7']);
  assert.equal(formatCpuSet(all.shared), '0,4', 'when nothing else is left');
});

const assigned = (sharedCpus: string, exclusive: Readonly<Record<string, string>> = {}): CpuAssignments => ({
  shared: parseCpuSet(sharedCpus),
  exclusive: new Map(
    Object.entries(exclusive).map(([uid, cpus]) => [uid as PodUid, new Map<string, CpuSet>([['app', parseCpuSet(cpus)]])]),
  ),
});

for (const [what, state, given, fault] of [
  ['all shared', assigned('0-7'), {}, undefined],
  ['some exclusive', assigned('0-3', { a: '4-5', b: '6-7' }), {}, undefined],
  ['nothing shared', assigned('', { a: '0-7' }), {}, 'default cpuset cannot be empty'],
  ['a reserved one is not shared', assigned('1-7', { a: '0' }), {}, 'not all reserved cpus: "0" are present in defaultCpuSet: "1-7"'],
  ['shared and exclusive', assigned('0-5', { a: '5-7' }), {}, 'pod: a, container: app cpuset: "5-7" overlaps with default cpuset "0-5"'],
  ['of two pods', assigned('0-4', { a: '5-6', b: '6-7' }), {}, 'pod: b has cpus "6" that another pod has, too'],
  ['a CPU that is off now', assigned('0-7', { a: '8' }), {}, 'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-8"'],
  ['a CPU that was off', assigned('0-6'), {}, 'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-6"'],
  ['strictly reserved ones not shared', assigned('1-7'), { options: { strictCpuReservation: true } }, undefined],
  [
    'strictly reserved ones shared',
    assigned('0-7'),
    { options: { strictCpuReservation: true } },
    'some of strictly reserved cpus: "0" are present in defaultCpuSet: "0-7"',
  ],
] as const)
  test(`assignments of before: ${what}`, () => assert.equal(cpuAssignmentsFault(state, partsOf(given)), fault));

test('pods come and go: no CPU has two owners, none is lost, and what is kept can be gone on with', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 });
  const step = fc.oneof(
    fc.record({ pod: fc.nat(5), init: fc.option(fc.integer({ min: 1, max: 4 })), counts }),
    fc.record({ gone: fc.nat(5) }),
  );
  const options = fc.constantFrom<Partial<CpuPolicyOptions>>(
    {},
    { fullPcpusOnly: true },
    { distributeCpusAcrossNuma: true },
    { strictCpuReservation: true },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), options, (steps, chosen) => {
      const given = { shape: server, reserved: '0,8', options: chosen };
      let all = allocations(given);
      for (const each of steps) {
        if ('gone' in each) all.release(`uid-${each.gone}` as PodUid);
        else {
          const initContainers = each.init === null ? [] : [asking('init', `${each.init}`)];
          const one = aPod(`${each.pod}`, {
            initContainers,
            containers: each.counts.map((count, index) => asking(`c${index}`, `${count}`)),
          });
          all.release(one.metadata.uid);
          // One that is refused is released, as the agent does.
          if (allocate(all, one).some((result) => result.includes('Error'))) all.release(one.metadata.uid);
        }
        assert.equal(cpuAssignmentsFault(all.assignments, partsOf(given)), undefined);
        for (const containers of all.assignments.exclusive.values()) {
          const apps = [...containers].filter(([name]) => name !== 'init').map(([, cpus]) => cpus);
          assert.equal(
            new Set(apps.flatMap((cpus) => [...cpus])).size,
            apps.reduce((sum, { size }) => sum + size, 0),
          );
        }
        all = allocations({ ...given, restored: all.assignments });
      }
      for (let uid = 0; uid < 6; uid++) all.release(`uid-${uid}` as PodUid);
      assert.deepEqual(all.assignments, allocations(given).assignments);
    }),
    { numRuns: 200 },
  );
});
