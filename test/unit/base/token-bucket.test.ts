import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from '../../../src/base/token-bucket.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;

test('a rate that changes counts from the next call on, and no limit serves who waits', async () => {
  const clock = new FakeClock();
  let rate = { qps: 1, burst: 1 };
  const bucket = new TokenBucket({ rate: () => rate, clock });
  assert.equal(bucket.tryAcquire(), true);
  assert.equal(bucket.tryAcquire(), false);
  rate = { qps: 0, burst: 1 };
  assert.equal(bucket.tryAcquire(), true);
  rate = { qps: 1, burst: 1 };
  const waiting = bucket.acquire(new AbortController().signal);
  rate = { qps: 0, burst: 1 };
  await clock.advance(1000);
  await waiting;
});

test('a burst is served at once, then one token comes every 1/qps seconds', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ rate: () => ({ qps: 10, burst: 3 }), clock });
  assert.deepEqual(
    [1, 2, 3, 4].map(() => bucket.tryAcquire()),
    [true, true, true, false],
  );
  await clock.advance(99);
  assert.equal(bucket.tryAcquire(), false);
  await clock.advance(1);
  assert.equal(bucket.tryAcquire(), true);
  await clock.advance(60_000);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => bucket.tryAcquire()),
    [true, true, true, false],
  );
  assert.equal(clock.actions.length, 0);
});

test('who waits first is served first, and nobody overtakes', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ rate: () => ({ qps: 10, burst: 1 }), clock });
  assert.equal(bucket.tryAcquire(), true);
  const served: string[] = [];
  for (const name of ['a', 'b', 'c']) void bucket.acquire(never).then(() => served.push(`${name}@${clock.now()}`));
  await clock.advance(150);
  assert.deepEqual(served, ['a@100']);
  await clock.advance(49);
  assert.equal(bucket.tryAcquire(), false);
  await clock.advance(200);
  assert.deepEqual(served, ['a@100', 'b@200', 'c@300']);
  assert.equal(clock.actions.length, 0);
});

test('who gives up takes no token and leaves no timer', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ rate: () => ({ qps: 10, burst: 1 }), clock });
  assert.equal(bucket.tryAcquire(), true);
  const gaveUp = new AbortController();
  const first = bucket.acquire(gaveUp.signal);
  const refused = assert.rejects(first, /enough/);
  let second = -1;
  void bucket.acquire(never).then(() => (second = clock.now()));
  gaveUp.abort(new Error('enough'));
  await refused;
  await clock.advance(100);
  assert.equal(second, 100);
  const last = new AbortController();
  const alone = assert.rejects(bucket.acquire(last.signal), /enough/);
  assert.equal(clock.actions.length, 1);
  last.abort(new Error('enough'));
  await alone;
  assert.equal(clock.actions.length, 0);
  await assert.rejects(bucket.acquire(AbortSignal.abort(new Error('too late'))), /too late/);
});

test('no rate means no limit', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ rate: () => ({ qps: 0, burst: 1 }), clock });
  for (let i = 0; i < 100; i++) await bucket.acquire(never);
  assert.equal(bucket.tryAcquire(), true);
});
