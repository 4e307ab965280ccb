import assert from 'node:assert/strict';
import { test } from 'node:test';
import { curvedCpuWeight, linearCpuWeight, sharesOfCpuWeight } from '../../../src/model/cpu-weight.ts';

/** Seen with runc 1.1 and with runc 1.3. */
for (const [shares, linear, curved] of [
  [2, 1, 1],
  [102, 4, 17],
  [256, 10, 35],
  [1024, 39, 100],
  [2048, 79, 174],
  [262_144, 10_000, 10_000],
  [300_000, 10_000, 10_000],
] as const)
  test(`${shares} shares are weight ${linear}, and ${curved} of a newer runc; both lead back to them`, () => {
    assert.deepEqual([linearCpuWeight(shares), curvedCpuWeight(shares)], [linear, curved]);
    assert.deepEqual([sharesOfCpuWeight(linear, shares), sharesOfCpuWeight(curved, shares)], [shares, shares]);
  });

test('a weight that was not asked for stands for the most shares that have it on the curve', () => {
  for (let weight = 2; weight < 10_000; weight++) {
    const shares = sharesOfCpuWeight(weight, 1_000_000);
    assert.ok(curvedCpuWeight(shares) <= weight && curvedCpuWeight(shares + 1) > weight, `${weight}: ${shares}`);
  }
  assert.deepEqual([sharesOfCpuWeight(1), sharesOfCpuWeight(10_000)], [2, 262_144]);
});
