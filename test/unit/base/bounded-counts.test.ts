import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedCounts } from '../../../src/base/bounded-counts.ts';

test('names are counted by themselves up to the limit, and together over it', () => {
  assert.deepEqual(
    [...boundedCounts(['b', 'a', 'b', 'c', 'd', 'a'], 2)],
    [
      ['b', 2],
      ['a', 2],
      ['other', 2],
    ],
  );
  assert.equal(boundedCounts([]).size, 0);
});

test('long names are counted together, and those that are written alike', () => {
  const [longest, longer] = ['a'.repeat(512), 'a'.repeat(513)];
  assert.deepEqual(
    [...boundedCounts([longest, longer, `${longer}b`, 'x\ud800', 'x\ud801'])],
    [
      [longest, 1],
      ['other', 2],
      ['x\ufffd', 2],
    ],
  );
});
