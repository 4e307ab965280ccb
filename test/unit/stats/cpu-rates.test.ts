import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CpuRates } from '../../../src/stats/cpu-rates.ts';

const s = (atMs: number, usageCoreNanoSeconds: number) => ({ atMs, usageCoreNanoSeconds });

test('a rate is what was used between two samples', () => {
  const rates = new CpuRates();
  assert.equal(rates.rate('a', s(10_000, 1e9)), undefined);
  assert.equal(rates.rate('a', s(12_000, 2e9)), 500_000_000);
  assert.equal(rates.rate('a', s(22_000, 2e9)), 0);
});

test('what has just started is known since its start', () => {
  assert.equal(new CpuRates().rate('a', s(10_000, 1e9), 2_000), 500_000_000);
});

test('what has run for long is not averaged over its life', () => {
  assert.equal(new CpuRates().rate('a', s(10_000_000, 1e9), 9_992_000), undefined);
});

test('samples that are too close repeat the rate, and the first one may be had sooner', () => {
  const rates = new CpuRates();
  rates.rate('a', s(0, 0));
  assert.equal(rates.rate('a', s(50, 1e6)), undefined);
  assert.equal(rates.rate('a', s(100, 1e7)), 100_000_000);
  assert.equal(rates.rate('a', s(600, 9e9)), 100_000_000);
  assert.equal(rates.rate('a', s(1100, 1.01e9)), 1_000_000_000);
});

for (const [why, at, use] of [
  ['nobody asked for minutes', 121_000, 2e9],
  ['the counter began anew', 2_000, 1],
] as const)
  test(`the measuring begins anew when ${why}`, () => {
    const rates = new CpuRates();
    rates.rate('a', s(0, 1e9));
    assert.equal(rates.rate('a', s(at, use)), undefined);
    assert.equal(rates.rate('a', s(at + 1000, use + 1e9)), 1_000_000_000);
  });

test('what is not kept is forgotten', () => {
  const rates = new CpuRates();
  rates.rate('a', s(0, 0));
  rates.rate('b', s(0, 0));
  rates.keep(new Set(['b']));
  assert.equal(rates.rate('a', s(1000, 5)), undefined);
  assert.equal(rates.rate('b', s(1000, 5)), 5);
});
