import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type AllocationRules, PodAllocations } from '../../../src/model/pod-allocations.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const asking = (name: string, cpu: string, spec: Partial<Pod['spec']> = {}): Pod =>
  aPod(name, { containers: [aContainer('c', { resources: { requests: { cpu } } })], ...spec }, { generation: 1 });
const resized = (pod: Pod, cpu: string): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, generation: 2 },
  spec: { ...pod.spec, containers: [aContainer('c', { resources: { requests: { cpu } } })] },
});

describe('PodAllocations', () => {
  let events: string[];
  let killed: string[];
  let synced: string[];
  let allocations: PodAllocations;

  beforeEach(() => {
    events = [];
    killed = [];
    synced = [];
    allocations = withRules({});
  });

  const withRules = (over: Partial<AllocationRules>): PodAllocations =>
    new PodAllocations({
      node: { status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } },
      staticCpus: false,
      staticMemory: false,
      swaps: () => false,
      preempt: ({ metadata }) => killed.push(metadata.name),
      event: ({ metadata }, _type, reason) => events.push(`${metadata.name} ${reason}`),
      accepted: ({ metadata }) => events.push(`${metadata.name} accepted`),
      infeasible: ({ metadata }, detail) => events.push(`${metadata.name} ${detail}`),
      changed: ({ metadata }) => synced.push(metadata.name),
      ...over,
    });

  const cpuOf = ({ metadata }: Pod): string | undefined => allocations.allocationOf(metadata.uid)?.containers.get('c')?.requests?.['cpu'];

  test('a pod keeps what it was given until there is room for more', () => {
    const [a, b] = [asking('a', '1'), asking('b', '2')];
    assert.equal(allocations.add(a, []), undefined);
    assert.equal(allocations.add(b, [a]), undefined);
    assert.equal(allocations.add(asking('c', '2'), [a, b])?.reason, 'OutOfcpu');
    const larger = resized(a, '3');
    allocations.push(a.metadata.uid, [larger, b]);
    assert.deepEqual(allocations.retry([larger, b]), []);
    assert.equal(cpuOf(a), '1');
    const [pending] = allocations.conditionsOf(a.metadata.uid);
    assert.deepEqual([pending?.type, pending?.reason, pending?.observedGeneration], ['PodResizePending', 'Deferred', 2]);
    allocations.remove(b.metadata.uid);
    assert.deepEqual(allocations.retry([larger]), [larger]);
    assert.equal(cpuOf(a), '3');
    assert.equal(allocations.conditionsOf(a.metadata.uid)[0]?.type, 'PodResizeInProgress');
    assert.deepEqual([events, synced, allocations.waiting], [['a ResizeDeferred', 'a ResizeStarted', 'a accepted'], ['a', 'a'], []]);
  });

  test('what cannot be given in place is told with what is in the way, once for each time that it is asked for', () => {
    for (const [rules, name, detail] of [
      [{ swaps: () => true }, 'memory', 'swap_limitation'],
      [{ staticCpus: true }, 'cpu', 'guaranteed_pod_cpu_manager_static_policy'],
      [{ staticMemory: true }, 'memory', 'guaranteed_pod_memory_manager_static_policy'],
    ] as const) {
      const strict = withRules(rules);
      events = [];
      const pod = (amount: string, generation: number): Pod => {
        const amounts = { cpu: '1', memory: '1Gi', [name]: amount };
        return aPod('a', { containers: [aContainer('c', { resources: { requests: amounts, limits: amounts } })] }, { generation });
      };
      strict.add(pod('1', 1), []);
      const larger = pod('2', 2);
      strict.push(larger.metadata.uid, [larger]);
      for (let round = 0; round < 2; round++) strict.retry([larger]);
      assert.deepEqual(events, [`a ${detail}`, 'a ResizeInfeasible']);
    }
  });

  test('what could not be given in place is over once what can is asked for', () => {
    const strict = withRules({ staticCpus: true });
    const pod = (cpu: string, memory: string, generation: number): Pod => {
      const amounts = { cpu, memory };
      return aPod('a', { containers: [aContainer('c', { resources: { requests: amounts, limits: amounts } })] }, { generation });
    };
    const ask = (now: Pod): readonly (string | undefined)[] => {
      strict.push(now.metadata.uid, [now]);
      strict.retry([now]);
      return strict
        .conditionsOf(now.metadata.uid)
        .map(({ type, reason, observedGeneration }) => `${type} ${reason ?? ''} ${observedGeneration}`);
    };
    strict.add(pod('1', '1Gi', 1), []);
    assert.deepEqual(ask(pod('2', '1Gi', 2)), ['PodResizePending Infeasible 2']);
    assert.deepEqual(ask(pod('2', '2Gi', 3)), ['PodResizePending Infeasible 3']);
    assert.deepEqual(ask(pod('1', '2Gi', 4)), ['PodResizeInProgress  4']);
    strict.actuated(pod('1', '2Gi', 4), true);
    assert.deepEqual(ask(pod('2', '2Gi', 5)), ['PodResizePending Infeasible 5']);
    // Taken back.
    assert.deepEqual(ask(pod('1', '2Gi', 6)), []);
    assert.deepEqual(strict.waiting, []);
  });

  test('what asks for no more goes first, then what matters more', () => {
    const pods = [asking('low', '1'), asking('high', '1', { priority: 10 }), asking('smaller', '1')];
    for (const pod of pods) allocations.add(pod, pods);
    const [low, high, smaller] = pods.map((pod, at) => resized(pod, at === 2 ? '500m' : '2'));
    assert.ok(low && high && smaller);
    for (const pod of [low, high, smaller]) allocations.push(pod.metadata.uid, [low, high, smaller]);
    assert.deepEqual(
      allocations.waiting,
      [smaller, high, low].map(({ metadata }) => metadata.uid),
    );
  });

  test('a critical pod finds room by the end of others', () => {
    const [critical, other] = [asking('critical', '1', { priority: 2_000_000_000 }), asking('other', '3')];
    for (const pod of [critical, other]) allocations.add(pod, [critical, other]);
    const larger = resized(critical, '2');
    allocations.push(critical.metadata.uid, [larger, other]);
    assert.deepEqual(allocations.retry([larger, other]), [larger]);
    assert.deepEqual(killed, ['other']);
    const beyond = resized(critical, '9');
    allocations.push(critical.metadata.uid, [beyond]);
    allocations.retry([beyond]);
    assert.match(
      allocations.conditionsOf(critical.metadata.uid)[0]?.message ?? '',
      /no set of running pods found to reclaim resources: \[\(res: cpu, q: 5000\), \]$/,
    );
  });
});
