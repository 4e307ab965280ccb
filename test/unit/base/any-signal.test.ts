import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { anySignal } from '../../../src/base/any-signal.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { unlessAborted } from '../../../src/base/unless-aborted.ts';
import { withDeadline } from '../../../src/base/with-deadline.ts';
import { deadline } from '../../../src/base/deadline.ts';
import { lastKnown } from '../../../src/node/last-known.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('it aborts with the first of its sources, with that one’s reason', () => {
  const [a, b] = [new AbortController(), new AbortController()];
  using either = anySignal(a.signal, b.signal);
  assert.equal(either.signal.aborted, false);
  const why = new Error('b');
  b.abort(why);
  a.abort(new Error('a'));
  assert.equal(either.signal.reason, why);
});

test('it has aborted where one of its sources has', () => {
  const why = new Error('gone');
  using either = anySignal(new AbortController().signal, AbortSignal.abort(why));
  assert.equal(either.signal.reason, why);
});

test('once aborted or disposed of it lets go of all of its sources', () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const listeners = (): number => getEventListeners(a.signal, 'abort').length + getEventListeners(b.signal, 'abort').length;
  anySignal(a.signal, b.signal)[Symbol.dispose]();
  assert.equal(listeners(), 0);
  using either = anySignal(a.signal, b.signal);
  assert.equal(listeners(), 2);
  b.abort();
  assert.equal(listeners(), 0);
  assert.equal(either.signal.aborted, true);
});

/** What is done again and again under the agent's own signal; each hands over the signal that the work saw. */
const works: Readonly<Record<string, (clock: Clock, long: AbortSignal, saw: (signal: AbortSignal) => void) => Promise<unknown>>> = {
  'a call with a deadline': (clock, long, saw) =>
    withDeadline(clock, 60_000, 'the call', long, async (within) => {
      saw(within);
      within.addEventListener('abort', () => {});
    }),
  'a request with a deadline': async (clock, long, saw) => {
    using within = deadline(clock, 60_000, 'the request', long);
    saw(within.signal);
    within.signal.addEventListener('abort', () => {});
  },
  'a fact that is asked for': (clock, long, saw) =>
    lastKnown({
      read: async (within) => {
        saw(within);
        within.addEventListener('abort', () => {});
      },
      clock,
      maxAgeMs: 0,
      waitMs: 60_000,
    })(long),
  'work that nobody waits for': (_, long, saw) => {
    using either = anySignal(long, new AbortController().signal);
    saw(either.signal);
    return unlessAborted(Promise.resolve(), either.signal);
  },
};

describe('a signal that lives as long as the agent keeps nothing of what was done under it', () => {
  for (const [what, work] of Object.entries(works))
    test(what, async () => {
      const long = new AbortController();
      const seen: WeakRef<AbortSignal>[] = [];
      for (let i = 0; i < 200; i++) await work(systemClock, long.signal, (signal) => seen.push(new WeakRef(signal)));
      for (let turn = 0; turn < 5; turn++) {
        await new Promise((done) => setImmediate(done));
        collectGarbage();
      }
      assert.equal(seen.length, 200);
      assert.equal(getEventListeners(long.signal, 'abort').length, 0);
      const kept = seen.filter((ref) => ref.deref() !== undefined).length;
      assert.ok(kept <= 2, `${kept} of 200 signals are kept`);
      assert.equal(long.signal.aborted, false);
    });
});
