import assert from 'node:assert/strict';
import { test } from 'node:test';
import { milliCpuToQuota, milliCpuToShares } from '../../../src/model/cpu-time.ts';
import { resourceConfigForPod } from '../../../src/model/resource-config.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

test('huge pages are summed by their size, and those of a name without a size are of size 0', () => {
  const requests = [{ 'hugepages-2Mi': '4Mi', 'hugepages-foo': '1' }, { 'hugepages-2048Ki': '2Mi' }];
  const pod = aPod('p', { containers: requests.map((each, i) => aContainer(`c${i}`, { resources: { requests: each } })) });
  const { hugePageLimit } = resourceConfigForPod(pod, { periodUs: 100_000, enforceCpuLimits: true, customPeriod: false });
  assert.deepEqual(Object.fromEntries(hugePageLimit), { 2097152: 6 * 2 ** 20, 0: 1 });
});

test('CPU beyond any machine wraps around in 64 bits', () => {
  assert.equal(milliCpuToShares(2n ** 53n + 1n), 2);
  assert.equal(milliCpuToQuota(2n ** 60n, 100_000, false), 1000);
  assert.equal(milliCpuToQuota(1500n, 100_000, false), 150_000);
});

test('where containers have CPUs for themselves, their pod has no quota', () => {
  const podOf = (cpu: string) => {
    const amounts = { cpu, memory: '1Mi' };
    return aPod('p', { containers: [aContainer('c', { resources: { requests: amounts, limits: amounts } })] });
  };
  const limiting = { periodUs: 100_000, enforceCpuLimits: true, customPeriod: false };
  const quota = (cpu: string, exclusiveCpus: boolean) => resourceConfigForPod(podOf(cpu), { ...limiting, exclusiveCpus }).cpuQuota;
  assert.deepEqual([quota('2', true), quota('1500m', true), quota('2', false)], [-1, 150_000, 200_000]);
});
