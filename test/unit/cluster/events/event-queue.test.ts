import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventQueue } from '../../../../src/cluster/events/event-queue.ts';

const never = new AbortController().signal;

test('events come out as they went in, and what waits for one gets the next', async () => {
  const queue = new EventQueue<string>(3);
  queue.push('a');
  queue.push('b');
  assert.deepEqual([await queue.take(never), await queue.take(never)], ['a', 'b']);
  const next = queue.take(never);
  queue.push('c');
  assert.equal(await next, 'c');
});

test('a full queue drops what comes and counts it', async () => {
  const queue = new EventQueue<number>(2);
  assert.deepEqual([queue.push(1), queue.push(2), queue.push(3), queue.push(4)], [true, true, false, false]);
  assert.deepEqual([queue.dropped, queue.size], [2, 2]);
  assert.equal(await queue.take(never), 1);
  assert.equal(queue.push(5), true);
});

test('waiting ends with the signal, and a later event is not lost to it', async () => {
  const queue = new EventQueue<string>(1);
  const stop = new AbortController();
  const waiting = queue.take(stop.signal);
  stop.abort(new Error('stop'));
  await assert.rejects(waiting, /stop/);
  queue.push('a');
  assert.equal(await queue.take(never), 'a');
});
