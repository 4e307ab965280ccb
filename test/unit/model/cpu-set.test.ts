import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCpuSet, inOrder, parseCpuSet, sameCpus } from '../../../src/model/cpu-set.ts';

for (const [text, cpus, canonical] of [
  ['', [], ''],
  ['0', [0], '0'],
  ['0-2,7', [0, 1, 2, 7], '0-2,7'],
  ['7,2,0,1', [0, 1, 2, 7], '0-2,7'],
  ['0,1', [0, 1], '0-1'],
  ['3-3,3', [3], '3'],
  ['10,2-4,3-5', [2, 3, 4, 5, 10], '2-5,10'],
  ['65535', [65_535], '65535'],
] as const)
  test(`"${text}" is ${cpus.length} CPUs, written "${canonical}"`, () => {
    const parsed = parseCpuSet(text);
    assert.deepEqual(inOrder(parsed), cpus);
    assert.equal(formatCpuSet(parsed), canonical);
    assert.ok(sameCpus(parseCpuSet(canonical), parsed));
  });

for (const [text, fault] of [
  ['1.3', /parsing "1.3": invalid syntax/],
  ['asd', /parsing "asd": invalid syntax/],
  ['3-1', /invalid range "3-1" \(3 > 1\)/],
  ['0,', /parsing "": invalid syntax/],
  ['-1', /parsing "": invalid syntax/],
  [' 1', /parsing " 1": invalid syntax/],
  ['65536', /CPU 65536 is beyond 65535/],
  ['0-99999999999', /CPU 99999999999 is beyond 65535/],
] as const)
  test(`"${text}" is no set of CPUs`, () => assert.throws(() => parseCpuSet(text), fault));

test('a CPU is looked at once, however often it is named', () => {
  assert.equal(parseCpuSet(Array(100_000).fill('0-65535').join(',')).size, 65_536);
});

test('sets of different CPUs differ', () => {
  assert.ok(!sameCpus(parseCpuSet('0-1'), parseCpuSet('0-2')));
  assert.ok(!sameCpus(parseCpuSet('0-1'), parseCpuSet('1-2')));
});
