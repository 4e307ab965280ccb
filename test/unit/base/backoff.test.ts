import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '../../../src/base/backoff.ts';

function setUp(): { readonly backoff: Backoff; readonly at: (ms: number) => void } {
  let nowMs = 0;
  const backoff = new Backoff({ clock: { monotonicMs: () => nowMs }, baseMs: 10_000, maxMs: 300_000 });
  return { backoff, at: (ms) => (nowMs = ms) };
}

test('the delay doubles up to the longest', () => {
  const { backoff } = setUp();
  const delays = Array.from({ length: 7 }, () => {
    backoff.next('a', 0);
    return backoff.get('a');
  });
  assert.deepEqual(delays, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test('twice the longest delay of quiet starts over, and asking changes nothing', () => {
  const { backoff, at } = setUp();
  backoff.next('a', 0);
  backoff.next('a', 0);
  at(600_001);
  assert.equal(backoff.isInBackOffSince('a', 600_001), false);
  assert.equal(backoff.get('a'), 20_000);
  backoff.next('a', 600_001);
  assert.equal(backoff.get('a'), 10_000);
});

test('the two windows are measured from the event and from the last failure', () => {
  const { backoff, at } = setUp();
  at(5_000);
  backoff.next('a', 0);
  at(9_999);
  assert.equal(backoff.isInBackOffSince('a', 0), true);
  assert.equal(backoff.isInBackOffSinceUpdate('a', 14_999), true);
  at(10_000);
  assert.equal(backoff.isInBackOffSince('a', 0), false);
  assert.equal(backoff.isInBackOffSinceUpdate('a', 15_000), false);
  assert.equal(backoff.isInBackOffSince('b', 0), false);
});

test('gc forgets the quiet and keeps the rest', () => {
  const { backoff, at } = setUp();
  backoff.next('old', 0);
  at(1);
  backoff.next('young', 1);
  at(600_001);
  backoff.gc();
  assert.deepEqual([backoff.get('old'), backoff.get('young')], [0, 10_000]);
  backoff.reset('young');
  assert.equal(backoff.get('young'), 0);
});
