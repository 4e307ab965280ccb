import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseCgroupPaths } from '../../../src/base/cgroup-paths.ts';
import { limitsOfV1, limitsOfV2 } from '../../../src/stats/cgroup-limits.ts';
import { cpuOfV1, cpuOfV2, memoryOfV1, memoryOfV2, podCgroupOf } from '../../../src/stats/cgroup-texts.ts';
import { disksOfV2 } from '../../../src/stats/disk-texts.ts';
import { parsePressure } from '../../../src/stats/pressure-text.ts';

const none = undefined;
const memoryV1 = {
  'memory.usage_in_bytes': '7598080\n',
  'memory.max_usage_in_bytes': '8000000\n',
  'memory.failcnt': '3\n',
  'memory.limit_in_bytes': '67108864\n',
  'memory.oom_control': none,
  'memory.stat':
    'rss 1\ninactive_file 1\ntotal_cache 6758400\ntotal_rss 110592\ntotal_pgfault 1599\ntotal_pgmajfault 2\ntotal_inactive_file 5836800\n',
};

describe('a cgroup of version 1', () => {
  test('tells processor time in nanoseconds, ticks apart', () => {
    assert.deepEqual(cpuOfV1({ 'cpuacct.usage': '21120625\n', 'cpuacct.stat': 'user 1\nsystem 2\n', 'cpu.stat': 'nr_periods 0\n' }), {
      usageCoreNanoSeconds: 21_120_625,
      userNanoSeconds: 10_000_000,
      systemNanoSeconds: 20_000_000,
    });
  });
  test('has a working set without inactive file pages, counted with all below', () => {
    const memory = memoryOfV1(memoryV1);
    assert.equal(memory?.workingSetBytes, 7_598_080 - 5_836_800);
    assert.equal(memory?.availableBytes, 67_108_864 - (7_598_080 - 5_836_800));
    assert.deepEqual([memory?.rssBytes, memory?.pageFaults, memory?.majorPageFaults, memory?.limitHits], [110_592, 1599, 2, 3]);
  });
  test("says nothing of what is available without a limit, which is the kernel's largest number", () => {
    const memory = memoryOfV1({ ...memoryV1, 'memory.limit_in_bytes': '9223372036854771712' });
    assert.equal(memory !== undefined && 'availableBytes' in memory, false);
  });
  test('never has a working set below nothing', () => {
    assert.equal(memoryOfV1({ ...memoryV1, 'memory.usage_in_bytes': '10' })?.workingSetBytes, 0);
  });
  test('that is gone tells nothing', () => {
    assert.equal(cpuOfV1({ 'cpuacct.usage': none, 'cpuacct.stat': none, 'cpu.stat': none }), undefined);
    assert.equal(memoryOfV1({ ...memoryV1, 'memory.usage_in_bytes': none }), undefined);
  });
  test('grants what its limits say; no quota is -1', () => {
    const limits = {
      'cpu.shares': '2\n',
      'cpu.cfs_period_us': '100000\n',
      'cpu.cfs_quota_us': '-1\n',
      'memory.limit_in_bytes': '67108864\n',
      'memory.memsw.limit_in_bytes': none,
      'memory.soft_limit_in_bytes': '9223372036854771712\n',
    };
    assert.deepEqual(limitsOfV1(limits), { cpuShares: 2, cpuPeriodUs: 100_000, memoryBytes: 67_108_864 });
  });
});

describe('a cgroup of version 2', () => {
  test('tells processor time in nanoseconds, and how its quota was enforced', () => {
    const text = 'usage_usec 21120\nuser_usec 10\nsystem_usec 20\nnr_periods 4\nnr_throttled 1\nthrottled_usec 5\n';
    assert.deepEqual(cpuOfV2({ 'cpu.stat': text }), {
      usageCoreNanoSeconds: 21_120_000,
      userNanoSeconds: 10_000,
      systemNanoSeconds: 20_000,
      throttling: { periods: 4, throttledPeriods: 1, throttledNanoSeconds: 5000 },
    });
  });
  const files = {
    'memory.current': '1000',
    'memory.peak': none,
    'memory.events': 'max 4\n',
    'memory.swap.current': none,
    'memory.swap.max': none,
  };
  const stat = 'anon 300\nfile 600\ninactive_file 400\npgfault 9\npgmajfault 1\n';
  for (const [max, available] of [
    ['max\n', undefined],
    ['2000\n', 1400],
    ['500\n', 0],
  ] as const)
    test(`with memory.max ${max.trim()} has ${available ?? 'no limit and nothing to tell of it'} available`, () => {
      const memory = memoryOfV2({ ...files, 'memory.stat': stat, 'memory.max': max });
      assert.deepEqual([memory?.workingSetBytes, memory?.rssBytes, memory?.limitHits], [600, 300, 4]);
      assert.equal(memory?.availableBytes, available);
    });
  for (const [weight, asked, shares] of [
    ['1', undefined, 2],
    ['39', 1024, 1024],
    ['100', 1024, 1024],
    ['100', undefined, 1024],
    ['10000', undefined, 262_144],
  ] as const)
    test(`of weight ${weight}${asked ? `, for which ${asked} shares were asked,` : ''} has ${shares} shares`, () => {
      const limits = { 'cpu.weight': weight, 'cpu.max': 'max 100000', 'memory.max': 'max', 'memory.swap.max': 'max', 'memory.low': '0' };
      assert.deepEqual(limitsOfV2(limits, asked), { cpuShares: shares, cpuPeriodUs: 100_000, memoryReservationBytes: 0 });
    });
  test('limits swap by itself', () => {
    const limits = { 'cpu.weight': none, 'cpu.max': none, 'memory.max': '64', 'memory.swap.max': '0', 'memory.low': none };
    assert.deepEqual(limitsOfV2(limits), { memoryBytes: 64, swapBytes: 0 });
  });
});

test('a process is in one place of each hierarchy', () => {
  const paths = parseCgroupPaths('9:name=systemd:/a\n3:cpu,cpuacct:/docker/x:y\n1:memory:/m\n0::/u\n');
  assert.deepEqual(Object.fromEntries(paths), { 'name=systemd': '/a', cpu: '/docker/x:y', cpuacct: '/docker/x:y', memory: '/m', '': '/u' });
});

for (const [path, parent] of [
  ['/docker/abc', undefined],
  ['/kubepods/burstable/podu-1/abc', '/kubepods/burstable/podu-1'],
  ['/kubepods.slice/kubepods-podu_1.slice/docker-abc.scope', '/kubepods.slice/kubepods-podu_1.slice'],
  ['/kubepods/podu-12/abc', undefined],
  ['abc', undefined],
] as const)
  test(`the pod's own cgroup of ${path} is ${parent ?? 'not there'}`, () => assert.equal(podCgroupOf(path, 'u-1'), parent));

test('what is no number counts as not there, in every file', () => {
  const broken = 'usage_usec ?\nuser_usec\nsystem_usec 3\nnr_periods x\n';
  assert.equal(cpuOfV2({ 'cpu.stat': broken }), undefined);
  assert.deepEqual(cpuOfV2({ 'cpu.stat': `${broken}usage_usec 5\n` }), { usageCoreNanoSeconds: 5000, systemNanoSeconds: 3000 });
  assert.deepEqual(parsePressure('some avg10=? avg60=0.5 total\n')?.some, { avg10: 0, avg60: 0.5, avg300: 0, totalUs: 0 });
  assert.deepEqual(
    [...(disksOfV2({ 'io.stat': '8:0 rbytes=? wbytes=2\n' }) ?? [])],
    [['8:0', { readBytes: 0, writtenBytes: 2, reads: 0, writes: 0 }]],
  );
});
