import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soonAfterAbort } from '../../../src/base/soon-after-abort.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const reason = new Error('edited');

test('what ends within the time after an abort ends as it does; without an abort it has all the time it takes', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const work = clock.sleep(100_000).then(() => 'undone');
  const done = soonAfterAbort(work, clock, 5_000, stop.signal);
  await clock.advance(96_000);
  stop.abort(reason);
  await clock.advance(4_000);
  assert.equal(await done, 'undone');
  assert.equal(clock.actions.length, 0);
});

test('what hangs is left behind, with the reason of the abort, also where that came before', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const hangs = (): Promise<void> => assert.rejects(soonAfterAbort(new Promise(() => {}), clock, 5_000, stop.signal), reason);
  const before = hangs();
  stop.abort(reason);
  const after = hangs();
  await clock.advance(5_000);
  await Promise.all([before, after]);
  assert.equal(clock.actions.length, 0);
});
