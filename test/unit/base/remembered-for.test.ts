import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberedFor } from '../../../src/base/remembered-for.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

test('an answer holds for its time, and then it is asked again', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const answer = rememberedFor(10_000, clock, () => ++asked);
  assert.deepEqual([answer(), answer()], [1, 1]);
  await clock.advance(9_999);
  assert.equal(answer(), 1);
  await clock.advance(1);
  assert.deepEqual([answer(), answer()], [2, 2]);
});

test('a question that fails is asked again', () => {
  let asked = 0;
  const answer = rememberedFor(10_000, new FakeClock(), () => {
    if (++asked === 1) throw new Error('not now');
    return asked;
  });
  assert.throws(answer, /not now/);
  assert.equal(answer(), 2);
});
