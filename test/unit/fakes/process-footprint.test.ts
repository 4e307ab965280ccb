import assert from 'node:assert/strict';
import { test } from 'node:test';
import { middleStep } from '../../builders/process-footprint.ts';

test('one step up is no growth, and what grows each time is', () => {
  assert.equal(middleStep([100, 101, 102, 5_000, 5_001, 5_002, 5_003]), 1);
  assert.equal(middleStep([100, 600, 1_100, 1_600, 2_100]), 500);
  assert.equal(middleStep([100, 90, 110, 100, 120]), 5);
});
