import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dockerResources } from '../../../../../src/engines/docker/containers/container-resources.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';

test('amounts beyond any machine wrap around in 64 bits, as in Kubernetes, instead of becoming numbers that an engine cannot read', () => {
  const node = { memoryCapacityBytes: 8 * 2 ** 30, cpuCfsQuota: true, cpuCfsQuotaPeriodUs: 100_000, podPidsLimit: -1 };
  const cases = [
    { resources: { requests: { cpu: '9223372036854775807' } }, expected: { CpuShares: 2 } },
    { resources: { limits: { cpu: '128Ti' } }, expected: { CpuQuota: 1000 } },
    { resources: { limits: { memory: '18446744073709551616' } }, expected: { Memory: 0, MemorySwap: 0 } },
    { resources: { limits: { memory: '8Ei' } }, expected: { Memory: 2 ** 63 - 1024, MemorySwap: 2 ** 63 - 1024 } },
    { resources: { requests: { memory: '9223372036854775807' } }, expected: { OomScoreAdj: 999 } },
  ];
  for (const { resources, expected } of cases) {
    const container = aContainer('c', { resources });
    const all: Readonly<Record<string, unknown>> = { ...dockerResources(aPod('p', { containers: [container] }), container, node) };
    const given = Object.fromEntries(Object.keys(expected).map((key) => [key, all[key]]));
    assert.deepEqual(given, expected, JSON.stringify(resources));
  }
});

test('a container that has CPUs for itself has no quota of them', () => {
  const node = { memoryCapacityBytes: 8 * 2 ** 30, cpuCfsQuota: true, cpuCfsQuotaPeriodUs: 100_000, podPidsLimit: -1 };
  const quota = (cpu: string, exclusiveCpus: boolean) => {
    const container = aContainer('c', { resources: { requests: { cpu, memory: '1Mi' }, limits: { cpu, memory: '1Mi' } } });
    return dockerResources(aPod('p', { containers: [container] }), container, { ...node, exclusiveCpus }).CpuQuota;
  };
  assert.deepEqual([quota('2', true), quota('1500m', true), quota('2', false)], [-1, 150_000, 200_000]);
});

test('docker counts swap on top of the limit of memory, never beyond its 64 bits, and limits none where memory is not limited', () => {
  const node = { memoryCapacityBytes: 8 * 2 ** 30, cpuCfsQuota: true, cpuCfsQuotaPeriodUs: 100_000, podPidsLimit: -1 };
  const limits = (memory: string | undefined, swap: number) => {
    const container = aContainer('c', { resources: { limits: memory === undefined ? {} : { memory } } });
    const { Memory, MemorySwap } = dockerResources(aPod('p', { containers: [container] }), container, { ...node, swapBytes: () => swap });
    return [Memory, MemorySwap];
  };
  assert.deepEqual(limits('1Mi', 0), [2 ** 20, 2 ** 20]);
  assert.deepEqual(limits('1Mi', 4096), [2 ** 20, 2 ** 20 + 4096]);
  assert.deepEqual(limits('8Ei', 2 ** 40), [2 ** 63 - 1024, 2 ** 63 - 1024]);
  assert.deepEqual(limits(undefined, 4096), [0, 0]);
});
