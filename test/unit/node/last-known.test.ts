import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastKnown } from '../../../src/node/last-known.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;

function slowFact(): {
  clock: FakeClock;
  ask: () => Promise<number | undefined>;
  reads: () => number;
  errors: unknown[];
  answersInMs: (ms: number) => void;
} {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  let reads = 0;
  let delayMs = 0;
  const ask = lastKnown({
    clock,
    maxAgeMs: 1000,
    waitMs: 100,
    deadlineMs: 5000,
    onError: (error) => errors.push(error),
    read: async (signal) => {
      const value = ++reads;
      if (delayMs > 0) await clock.sleep(delayMs, signal);
      return value;
    },
  });
  return { clock, ask: () => ask(never), reads: () => reads, errors, answersInMs: (ms) => void (delayMs = ms) };
}

test('an answer serves until it is old', async () => {
  const { clock, ask, reads } = slowFact();
  assert.equal(await ask(), 1);
  await clock.advance(999);
  assert.equal(await ask(), 1);
  await clock.advance(1);
  assert.equal(await ask(), 2);
  assert.equal(reads(), 2);
  assert.equal(clock.actions.length, 0);
});

test('a slow answer is not waited for; the last one serves, and one is asked for at a time', async () => {
  const { clock, ask, reads, answersInMs } = slowFact();
  await ask();
  await clock.advance(1000);
  answersInMs(2000);
  const slow = ask();
  await clock.advance(100);
  assert.equal(await slow, 1);
  const again = ask();
  await clock.advance(1900);
  assert.equal(await again, 1);
  assert.equal(await ask(), 2);
  assert.equal(reads(), 2);
  assert.equal(clock.actions.length, 0);
});

test('an answer that never comes is given up, told, and asked for again', async () => {
  const { clock, ask, reads, errors, answersInMs } = slowFact();
  answersInMs(60_000);
  const first = ask();
  await clock.advance(5000);
  assert.equal(await first, undefined);
  assert.match(String(errors[0]), /no answer within 5 s/);
  answersInMs(0);
  assert.equal(await ask(), 2);
  assert.equal(reads(), 2);
  assert.equal(clock.actions.length, 0);
});

test('whoever stops is not kept waiting', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const ask = lastKnown({ clock, maxAgeMs: 1, waitMs: 100, read: (signal) => clock.sleep(1000, signal) });
  const asked = ask(stop.signal);
  await clock.advance(10);
  stop.abort(new Error('stop'));
  await assert.rejects(asked, { message: 'stop' });
  await clock.advance(0);
  assert.equal(clock.actions.length, 0);
});
