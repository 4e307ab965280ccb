import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertGrowsLinearly } from '../../builders/growth.ts';

test('work that grows with the square of its input is seen', async () => {
  const pairs = (size: number) => () => {
    const side = size / 16;
    let sum = 0;
    for (let i = 0; i < side; i++) for (let j = 0; j < side; j++) sum += i ^ j;
    return sum;
  };
  await assert.rejects(assertGrowsLinearly(pairs), /more than linear/);
});

test('a single slow run of linear work is forgiven', async () => {
  let largest = 0;
  const slowAtFirst = (size: number) => {
    let extra = 0;
    if (size > largest) extra = size === 1 << 20 ? 40 : 0;
    largest = Math.max(largest, size);
    return () => {
      let sum = 0;
      for (let i = 0; i < size * (1 + extra); i++) sum += i ^ 3;
      extra = 0;
      return sum;
    };
  };
  await assertGrowsLinearly(slowAtFirst, { to: 1 << 20 });
});
