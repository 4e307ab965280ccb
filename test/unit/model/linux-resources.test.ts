import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quotaToMilliCpu, sharesToMilliCpu } from '../../../src/model/cpu-time.ts';
import { containerLinuxResources, type LimitingNode, resourcesOfCgroup } from '../../../src/model/linux-resources.ts';
import { oomScoreAdj } from '../../../src/model/oom-score.ts';
import { mayUseSwap } from '../../../src/model/swap-limit.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const GiB = 2 ** 30;
const node: LimitingNode = {
  cgroup: 2,
  memoryCapacity: 8 * GiB,
  swapCapacity: 4 * GiB,
  allocatableMemory: 7 * GiB,
  swapController: true,
  swapBehavior: 'LimitedSwap',
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodUs: undefined,
  singleProcessOomKill: undefined,
  memoryQos: false,
  memoryReservationPolicy: 'None',
  memoryThrottlingFactor: 0.9,
  hugePageSizes: ['2MB'],
};

test('a container without a limit has that of its pod, and swap as far as it asked for memory', () => {
  const container = aContainer('c', { resources: { requests: { memory: '1Gi' } } });
  const pod = aPod('p', { containers: [container], resources: { limits: { cpu: '2', 'hugepages-2Mi': '4Mi' } } });
  const { cpuQuota, memoryLimit, unified, hugepages } = containerLinuxResources(
    { ...pod, spec: { ...pod.spec, resources: { ...pod.spec.resources, requests: { memory: '1Gi' } } } },
    container,
    node,
  );
  assert.deepEqual({ cpuQuota, memoryLimit, hugepages }, { cpuQuota: 200_000, memoryLimit: 0, hugepages: { '2MB': 4 * 2 ** 20 } });
  assert.deepEqual(unified, { 'memory.swap.max': `${GiB / 2}` });
});

const asking = (memory: string, limit?: string) => ({ resources: { requests: { memory }, ...(limit && { limits: { memory: limit } }) } });
const swapCases = [
  ['of a Burstable pod', aPod('p', { containers: [aContainer('c', asking('2Gi', '3Gi'))] }), GiB],
  ['that asks for its limit', aPod('p', { containers: [aContainer('c', asking('2Gi', '2Gi')), aContainer('d')] }), 0],
  ['that asks for no memory', aPod('p', { containers: [aContainer('c'), aContainer('d', asking('2Gi'))] }), 0],
  ['of a critical pod', aPod('p', { containers: [aContainer('c', asking('2Gi'))], priority: 2_000_000_000 }), 0],
  ['that asks for more than there is', aPod('p', { containers: [aContainer('c', asking('9223372036854775808'))] }), 0],
  ['of a BestEffort pod', aPod('p'), 0],
] as const;
for (const [name, pod, bytes] of swapCases)
  test(`under LimitedSwap a container ${name} may use ${bytes} bytes of it, under NoSwap none`, () => {
    const [container] = pod.spec.containers;
    assert.ok(container);
    const swap = (swapBehavior: string) => containerLinuxResources(pod, container, { ...node, swapBehavior }).unified['memory.swap.max'];
    assert.deepEqual([swap('LimitedSwap'), swap('NoSwap'), swap('')], [`${bytes}`, '0', '0']);
    // A share of nothing is a share.
    assert.equal(mayUseSwap(pod, container, { ...node, swapCapacity: 0 }), bytes > 0 || name.startsWith('that asks for more'));
    for (const over of [{ cgroup: 1 }, { swapController: false }] as const) {
      assert.equal(containerLinuxResources(pod, container, { ...node, ...over }).unified['memory.swap.max'], undefined);
      assert.equal(mayUseSwap(pod, container, { ...node, ...over }), false);
    }
  });

test('on cgroup v1 memory and swap are limited alike', () => {
  const container = aContainer('c', { resources: { limits: { memory: '1Gi' } } });
  const { memorySwapLimit, unified } = containerLinuxResources(aPod('p', { containers: [container] }), container, { ...node, cgroup: 1 });
  assert.equal(memorySwapLimit, GiB);
  assert.deepEqual(unified, {});
});

test('what a cgroup is set to is read back as amounts', () => {
  const { cpuRequest, cpuLimit, memoryLimit } = resourcesOfCgroup({
    cpuShares: 103,
    cpuQuota: 50_000,
    cpuPeriod: 100_000,
    memoryLimit: GiB,
  });
  assert.deepEqual([cpuRequest, cpuLimit, memoryLimit].map(String), ['101m', '500m', '1Gi']);
  assert.deepEqual(resourcesOfCgroup({ cpuShares: 0, cpuQuota: -1, cpuPeriod: 100_000, memoryLimit: 0 }), {});
  assert.equal(sharesToMilliCpu(1), 0);
  assert.equal(quotaToMilliCpu(1000, 0), 0);
});

test('a sidecar dies no sooner than the app containers, and what a pod leaves to its containers is shared', () => {
  const asking = (memory: string): object => ({ resources: { requests: { memory } } });
  const sidecar = aContainer('s', { restartPolicy: 'Always' });
  const app = aContainer('a', asking('4Gi'));
  const pod = aPod('p', { containers: [app], initContainers: [sidecar] });
  assert.equal(oomScoreAdj(pod, sidecar, 8 * GiB), 500);
  const shared = aPod('p', { containers: [aContainer('a'), aContainer('b')], ...asking('4Gi') });
  assert.equal(oomScoreAdj(shared, aContainer('a'), 8 * GiB), 750);
  assert.equal(oomScoreAdj(aPod('p', { containers: [app], priority: 2_000_000_000 }), app, 8 * GiB), 500);
});
