import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { limitedDial } from '../../../../src/server/streaming/limited-dial.ts';

test('of 10,000 connections to ports of pods, so many are made as may be open; a new one when one has closed or could not be made', async () => {
  const limited = limitedDial(20);
  let dialled = 0;
  const dial = async (): Promise<PassThrough> => {
    dialled++;
    return new PassThrough();
  };
  const all = await Promise.allSettled(Array.from({ length: 10_000 }, () => limited(dial)));
  const made = all.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  assert.deepEqual([made.length, dialled], [20, 20]);
  await assert.rejects(limited(dial), { message: 'too many ports are being forwarded: 20 connections are open, which is the limit' });
  const [first] = made;
  assert.ok(first);
  first.destroy();
  await once(first, 'close');
  await assert.rejects(
    limited(() => Promise.reject(new Error('refused'))),
    /refused/,
  );
  assert.ok(await limited(dial));
  await assert.rejects(limited(dial), /too many/);
});

test('a connection that has closed before it was handed over counts no more', async () => {
  const limited = limitedDial(1);
  const closed = new PassThrough().destroy();
  await once(closed, 'close');
  await limited(async () => closed);
  assert.ok(await limited(async () => new PassThrough()));
});
