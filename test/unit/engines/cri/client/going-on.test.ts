import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goingOn } from '../../../../../src/engines/cri/client/going-on.ts';

test('work that is no longer waited for goes on', async () => {
  const stop = new AbortController();
  const work = Promise.withResolvers<void>();
  const seen: AbortSignal[] = [];
  const waiting = goingOn((own) => {
    seen.push(own);
    return work.promise;
  }, stop.signal);
  const reason = new Error('time is up');
  stop.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
  assert.deepEqual(
    seen.map(({ aborted }) => aborted),
    [false],
  );
  // What comes of it is nobody's any more.
  work.reject(new Error('it failed later'));
  await work.promise.catch(() => {});
});

test('nothing begins after an abort', async () => {
  const reason = new Error('time is up');
  let begun = 0;
  await assert.rejects(
    goingOn(async () => void begun++, AbortSignal.abort(reason)),
    (error) => error === reason,
  );
  assert.equal(begun, 0);
});
