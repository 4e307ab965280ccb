import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue, QueueFullError } from '../../../../src/server/auth/fair-queue.ts';

const never = new AbortController().signal;
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

/** A queue whose work ends when told, and the order in which it began. */
function queueOf(atOnce: number, waiting: number) {
  const queue = new FairQueue({ atOnce, waiting });
  const begun: string[] = [];
  const running: (() => void)[] = [];
  const want = (name: string, peer: string, signal = never): Promise<string> =>
    queue.run({ peer, signal }, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => running.push(resolve));
      return name;
    });
  const finish = async (): Promise<void> => {
    running.shift()?.();
    await settled();
  };
  return { queue, begun, want, finish };
}

test('so much is done at a time, and the peers take turns', async () => {
  const { begun, want, finish } = queueOf(1, 100);
  const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => want(name, name.slice(0, 1)));
  for (const _ of all) await finish();
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']);
});

test('when no more may wait, the peer that wants the most goes short: one that wants one thing gets it among 10,000', async () => {
  const { queue, begun, want, finish } = queueOf(2, 50);
  const flood = Array.from({ length: 10_000 }, (_, n) => want(`f${n}`, 'flood').catch((error: unknown) => error));
  const mine = want('mine', 'me');
  assert.equal(queue.size, 52);
  await finish();
  await finish();
  assert.ok(begun.includes('mine'));
  for (let n = 0; n < 60; n++) await finish();
  assert.equal(await mine, 'mine');
  const refused = (await Promise.all(flood)).filter((end) => end instanceof QueueFullError);
  assert.equal(refused.length, 10_000 - 2 - 49);
  assert.equal(queue.size, 0);
});

test('who has gone waits no more, and its turn is not lost', async () => {
  const { queue, begun, want, finish } = queueOf(1, 100);
  const gone = new AbortController();
  const first = want('first', 'a');
  const left = assert.rejects(want('left', 'a', gone.signal), /gone/);
  const last = want('last', 'a');
  gone.abort(new Error('gone'));
  await left;
  assert.equal(queue.size, 2);
  await finish();
  await finish();
  assert.deepEqual([await first, await last], ['first', 'last']);
  assert.deepEqual(begun, ['first', 'last']);
  await assert.rejects(want('late', 'a', gone.signal), /gone/);
});

test('work that fails makes room like any other', async () => {
  const { queue, want, finish } = queueOf(1, 100);
  await assert.rejects(
    queue.run({ peer: 'a', signal: never }, () => Promise.reject(new Error('failed'))),
    /failed/,
  );
  const next = want('next', 'a');
  await finish();
  assert.equal(await next, 'next');
});
