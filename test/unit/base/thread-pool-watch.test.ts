import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ThreadPoolWatch } from '../../../src/base/thread-pool-watch.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

test('threads that have taken no work for 30 s are a fault until they take some, and hold up no end', async () => {
  const clock = new FakeClock();
  let answer = (): void => {};
  const watch = new ThreadPoolWatch({ clock, ask: () => new Promise<void>((resolve) => (answer = resolve)) });
  const stop = new AbortController();
  const running = watch.run(stop.signal).catch((error: unknown) => error);
  await clock.advance(0);
  answer();
  await clock.advance(39_999);
  assert.equal(watch.fault(), undefined);
  await clock.advance(1);
  assert.match(watch.fault() ?? '', /^no thread for calls of file systems has been free for 30 s: /);
  answer();
  await clock.advance(0);
  assert.equal(watch.fault(), undefined);
  await clock.advance(10_000);
  const reason = new Error('stop');
  stop.abort(reason);
  assert.equal(await running, reason);
});
