import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupWrites } from '../../../src/cgroups/cgroup-writes.ts';

const sizes = new Map([
  [2 ** 21, '2MB'],
  [2 ** 30, '1GB'],
]);
const shown = (...args: Parameters<typeof cgroupWrites>) => cgroupWrites(...args).map(({ file, value }) => `${file}=${value}`);
const all = {
  cpuShares: 1024,
  cpuQuota: 50_000,
  cpuPeriod: 100_000,
  memory: 2 ** 30,
  pidsLimit: 100,
  hugePageLimit: new Map([[2 ** 21, 2 ** 22]]),
  unified: { 'memory.min': '4096' },
};

test('what a cgroup is to be is written in the terms of each version', () => {
  assert.deepEqual(shown(all, 1, sizes), [
    'cpu.shares=1024',
    'cpu.cfs_period_us=100000',
    'cpu.cfs_quota_us=50000',
    'memory.limit_in_bytes=1073741824',
    'pids.max=100',
    'hugetlb.2MB.limit_in_bytes=4194304',
    'hugetlb.1GB.limit_in_bytes=0',
  ]);
  assert.deepEqual(shown(all, 2, sizes), [
    'cpu.weight=39',
    'cpu.max=50000 100000',
    'memory.max=1073741824',
    'pids.max=100',
    'hugetlb.2MB.max=4194304',
    'hugetlb.1GB.max=0',
    'memory.min=4096',
  ]);
});

test('no limit of CPU is said, and what is not set is left alone', () => {
  assert.deepEqual(shown({ cpuQuota: -1, cpuPeriod: 100_000 }, 1, sizes), ['cpu.cfs_period_us=100000', 'cpu.cfs_quota_us=-1']);
  assert.deepEqual(shown({ cpuQuota: -1, cpuPeriod: 100_000 }, 2, sizes), ['cpu.max=max 100000']);
  assert.deepEqual(shown({ memory: 0, pidsLimit: 0, cpuQuota: 0 }, 2, sizes), []);
});

test('amounts beyond what a number can print are whole numbers all the same', () => {
  assert.deepEqual(shown({ memory: 2 ** 62 }, 2, new Map()), ['memory.max=4611686018427387904']);
  assert.deepEqual(shown({ memory: 2 ** 80 }, 1, new Map()), ['memory.limit_in_bytes=1208925819614629174706176']);
});
