import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SerialByKey } from '../../../src/base/serial-by-key.ts';

test('tasks of one key come one after the other, those of another key beside them, also after one that fails', async () => {
  const serial = new SerialByKey<string>();
  const did: string[] = [];
  const first = Promise.withResolvers<void>();
  const failing = serial.run('a', () => first.promise);
  const second = serial.run('a', async () => void did.push('second'));
  await serial.run('b', async () => void did.push('beside'));
  assert.deepEqual(did, ['beside']);
  first.reject(new Error('broken'));
  await assert.rejects(failing, /broken/);
  await second;
  assert.deepEqual(did, ['beside', 'second']);
});

test('who waits within a signal waits no longer, and its task is not begun', async () => {
  const serial = new SerialByKey<string>();
  const first = Promise.withResolvers<void>();
  const before = serial.run('a', () => first.promise);
  const stop = new AbortController();
  const waiting = serial.runWithin('a', stop.signal, async () => assert.fail('begun'));
  stop.abort(new Error('over'));
  await assert.rejects(waiting, /over/);
  first.resolve();
  await before;
  assert.equal(await serial.runWithin('a', new AbortController().signal, async () => 'next'), 'next');
});
