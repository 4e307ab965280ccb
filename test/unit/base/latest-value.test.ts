import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LatestValue } from '../../../src/base/latest-value.ts';

const never = new AbortController().signal;

test('all who wait get the first value, and who comes later the latest', async () => {
  const value = new LatestValue<string | undefined>();
  assert.equal(value.known, undefined);
  const waiting = Promise.all([value.wait(never), value.wait(never)]);
  value.set('one');
  value.set(undefined);
  assert.deepEqual(await waiting, ['one', 'one']);
  assert.deepEqual(value.known, { value: undefined });
  assert.equal(await value.wait(never), undefined);
});

test('an abort ends the waiting with its reason', async () => {
  const value = new LatestValue<string>();
  const stop = new AbortController();
  const waiting = value.wait(stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, { message: 'enough' });
  value.set('one');
  await assert.rejects(value.wait(stop.signal), { message: 'enough' });
});
