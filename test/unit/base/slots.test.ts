import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Slots } from '../../../src/base/slots.ts';

describe('slots', () => {
  const ever = new AbortController().signal;

  it('runs so many at once, and the others in their order, also after one that failed', async () => {
    const slots = new Slots(2);
    const begun: number[] = [];
    const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    const all = ends.map(({ promise }, index) =>
      slots.run(() => {
        begun.push(index);
        return promise;
      }, ever),
    );
    assert.deepEqual(begun, [0, 1]);
    ends[1]?.reject(new Error('failed'));
    await assert.rejects(all[1] ?? Promise.resolve(), /failed/);
    assert.deepEqual(begun, [0, 1, 2]);
    for (const { resolve } of ends) resolve();
    await Promise.allSettled(all);
    assert.deepEqual(begun, [0, 1, 2, 3]);
  });

  it('takes no slot for what was aborted while it waited', async () => {
    const slots = new Slots(1);
    const first = Promise.withResolvers<void>();
    const running = slots.run(() => first.promise, ever);
    const stop = new AbortController();
    const waiting = slots.run(() => assert.fail('it must not run'), stop.signal);
    stop.abort(new Error('no longer'));
    await assert.rejects(waiting, /no longer/);
    first.resolve();
    await running;
    assert.equal(await slots.run(async () => 'free', ever), 'free');
  });
});
