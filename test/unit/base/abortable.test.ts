import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { beforeEach, test } from 'node:test';
import { abortable } from '../../../src/base/abortable.ts';

let stop: AbortController;
let released: boolean[];
beforeEach(() => {
  stop = new AbortController();
  released = [];
});
const listeners = (): number => getEventListeners(stop.signal, 'abort').length;
const release = (aborted: boolean): void => void released.push(aborted);

test('it settles as asked, frees what was taken once, and lets go of the signal', async () => {
  const ends: ((value: number) => void)[] = [];
  const promise = abortable<number>(stop.signal, (resolve, reject) => {
    ends.push(resolve, () => reject(new Error('late')));
    return release;
  });
  assert.deepEqual([listeners(), released], [1, []]);
  for (const end of ends) end(1);
  stop.abort();
  assert.equal(await promise, 1);
  assert.deepEqual([listeners(), released], [0, [false]]);
});

test('it rejects with the signal’s reason when that aborts first, and says so to who frees', async () => {
  let end = (_value: number): void => {};
  const promise = abortable<number>(stop.signal, (resolve) => {
    end = resolve;
    return release;
  });
  const why = new Error('gone');
  stop.abort(why);
  end(1);
  await assert.rejects(promise, why);
  assert.deepEqual([listeners(), released], [0, [true]]);
});

test('what is settled before it can say what to free frees it, too', async () => {
  const promise = abortable<number>(stop.signal, (resolve) => {
    resolve(1);
    return release;
  });
  assert.equal(await promise, 1);
  assert.deepEqual([listeners(), released], [0, [false]]);
});

test('what cannot begin rejects, and nothing begins under a signal that has aborted', async () => {
  const why = new Error('no');
  const failing = abortable(stop.signal, () => {
    throw why;
  });
  await assert.rejects(failing, why);
  assert.equal(listeners(), 0);
  stop.abort(why);
  await assert.rejects(
    abortable(stop.signal, () => assert.fail('has begun')),
    why,
  );
  assert.equal(listeners(), 0);
});
