import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Next, WakeReason } from '../../../../src/ports/work-queue.ts';
import { KeyedWorkQueue } from '../../../../src/agent/queue/keyed-work-queue.ts';
import type { QueueKey } from '../../../../src/ports/happenings.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { silentHappenings } from '../../../fakes/silent-happenings.ts';

function setUp() {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const stop = new AbortController();
  const queue = new KeyedWorkQueue<string>({
    name: 'pods',
    tell: silentHappenings,
    clock,
    backoffMs: (n) => 1000 * 2 ** (n - 1),
    onError: (_key, error) => errors.push(error),
  });
  return { clock, errors, stop, queue };
}

test('repeats merge, the earliest wins, and the run learns every reason', async () => {
  const { clock, queue, stop } = setUp();
  const ran: unknown[] = [];
  const done = queue.run(
    (key, _signal, wakes) => {
      ran.push([key, clock.now(), wakes]);
      return Promise.resolve('on-change');
    },
    { concurrency: 2, signal: stop.signal },
  );
  queue.add('a', 'due', 50);
  queue.add('a', 'retry', 30);
  queue.add('a', 'due', 70);
  await clock.advance(100);
  assert.deepEqual(ran, [['a', 30, ['retry']]]);
  stop.abort();
  await done;
});

test('reasons that come before the queue is run are kept, oldest first', async () => {
  const { clock, queue, stop } = setUp();
  queue.add('a', 'pod added');
  queue.add('a', 'engine event');
  queue.add('a', 'pod added');
  let seen: readonly WakeReason[] = [];
  const done = queue.run(
    (_key, _signal, wakes) => {
      seen = wakes;
      return Promise.resolve('on-change');
    },
    { concurrency: 1, signal: stop.signal },
  );
  await clock.advance(0);
  assert.deepEqual(seen, ['pod added', 'engine event']);
  stop.abort();
  await done;
});

/** Runs of 100 ms: how many there were, and how many at once. */
function slowRuns(clock: FakeClock): { readonly seen: { runs: number; peak: number }; readonly handle: () => Promise<Next> } {
  const seen = { runs: 0, peak: 0 };
  let running = 0;
  const handle = async (): Promise<Next> => {
    seen.runs++;
    seen.peak = Math.max(seen.peak, ++running);
    await clock.sleep(100);
    running--;
    return 'on-change';
  };
  return { seen, handle };
}

test('never runs one key twice at once, and asking mid-run earns one more run', async () => {
  const { clock, queue, stop } = setUp();
  const { seen, handle } = slowRuns(clock);
  const done = queue.run(handle, { concurrency: 4, signal: stop.signal });
  queue.add('a', 'pod added');
  await clock.advance(10);
  for (let i = 0; i < 3; i++) queue.add('a', 'engine event');
  await clock.advance(500);
  assert.deepEqual(seen, { runs: 2, peak: 1 });
  stop.abort();
  await done;
});

test('concurrency is bounded across keys', async () => {
  const { clock, queue, stop } = setUp();
  const { seen, handle } = slowRuns(clock);
  const done = queue.run(handle, { concurrency: 2, signal: stop.signal });
  for (const key of 'abcdef') queue.add(key, 'pod added');
  await clock.advance(1000);
  assert.deepEqual(seen, { runs: 6, peak: 2 });
  stop.abort();
  await done;
});

test('a failure backs off its own key only, and success resets it', async () => {
  const { clock, queue, stop, errors } = setUp();
  const at: number[] = [];
  let good = 0;
  const done = queue.run(
    async (key) => {
      if (key === 'good') good++;
      else {
        at.push(clock.now());
        if (at.length < 4 || at.length === 5) throw new Error('no');
      }
      return 'on-change';
    },
    { concurrency: 2, signal: stop.signal },
  );
  queue.add('bad', 'pod added');
  queue.add('good', 'pod added');
  await clock.advance(20_000);
  assert.deepEqual([at, good, errors.length], [[0, 1000, 3000, 7000], 1, 3]);
  queue.add('bad', 'engine event');
  await clock.advance(5000);
  assert.deepEqual(at.slice(4), [20_000, 21_000]);
  stop.abort();
  await done;
});

test("news overrides a back-off: the delay of a crash loop is the planner's, not the queue's", async () => {
  const { clock, queue, stop } = setUp();
  const at: number[] = [];
  const done = queue.run(() => (at.push(clock.now()) === 1 ? Promise.reject(new Error('no')) : Promise.resolve('on-change')), {
    concurrency: 1,
    signal: stop.signal,
  });
  queue.add('a', 'pod added');
  await clock.advance(10);
  queue.add('a', 'engine event');
  await clock.advance(5000);
  assert.deepEqual(at, [0, 10]);
  stop.abort();
  await done;
});

test('an interrupt aborts the run under way, which is no failure, and the key runs again', async () => {
  const { clock, queue, stop, errors } = setUp();
  const seen: unknown[] = [];
  const done = queue.run(
    async (_key, signal, wakes) => {
      seen.push([clock.now(), wakes]);
      if (seen.length === 1) await clock.sleep(1_000_000, signal);
      return 'on-change';
    },
    { concurrency: 1, signal: stop.signal },
  );
  queue.add('a', 'pod added');
  await clock.advance(10);
  queue.interrupt('a', 'pod removed');
  await clock.advance(10);
  assert.deepEqual(seen, [
    [0, ['pod added']],
    [10, ['pod removed']],
  ]);
  assert.deepEqual(errors, []);
  stop.abort();
  await done;
});

test('an interrupt where nothing runs starts a run that goes to its end', async () => {
  const { clock, queue, stop } = setUp();
  const finished: number[] = [];
  const done = queue.run(
    async (_key, signal) => {
      await clock.sleep(5, signal);
      finished.push(clock.now());
      return 'on-change';
    },
    { concurrency: 1, signal: stop.signal },
  );
  queue.interrupt('a', 'pod updated');
  await clock.advance(10);
  assert.deepEqual(finished, [5]);
  stop.abort();
  await done;
});

test('stopping aborts what runs, waits for it, and leaves no timer behind', async () => {
  const { clock, queue, stop } = setUp();
  let finished = false;
  let resolved = false;
  const done = queue
    .run(
      async (_key, signal) => {
        await clock.sleep(1_000_000, signal).catch(() => clock.sleep(100));
        finished = true;
        return { afterMs: 1 };
      },
      { concurrency: 1, signal: stop.signal },
    )
    .then(() => (resolved = true));
  queue.add('a', 'pod added');
  queue.add('b', 'pod added', 500);
  await clock.advance(10);
  stop.abort();
  await clock.advance(10);
  assert.equal(resolved, false);
  await clock.advance(200);
  await done;
  assert.deepEqual([finished, clock.actions.length], [true, 0]);
});

test('whatever is asked, in whatever order: one run of a key at a time, and a run starts after every ask', async () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    what: fc.constantFrom('add' as const, 'later' as const, 'interrupt' as const),
    delayMs: fc.integer({ min: 1, max: 50 }),
    thenMs: fc.integer({ min: 0, max: 40 }),
  });
  const outcome = fc.constantFrom('ok' as const, 'again' as const, 'fail' as const);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.array(outcome, { minLength: 1, maxLength: 10 }), async (steps, outcomes) => {
      const { clock, queue, stop } = setUp();
      const running = new Map<string, number>();
      const lastStart = new Map<string, number>();
      let overlaps = 0;
      let runs = 0;
      const done = queue.run(
        async (key, signal) => {
          lastStart.set(key, clock.now());
          const now = (running.get(key) ?? 0) + 1;
          running.set(key, now);
          if (now > 1) overlaps++;
          const what = outcomes[runs++ % outcomes.length];
          try {
            await clock.sleep(7, signal);
          } finally {
            running.set(key, (running.get(key) ?? 1) - 1);
          }
          if (what === 'fail') throw new Error('no');
          return what === 'again' && runs < 200 ? { afterMs: 5 } : 'on-change';
        },
        { concurrency: 2, signal: stop.signal },
      );
      const lastAsk = new Map<string, number>();
      for (const { key, what, delayMs, thenMs } of steps) {
        lastAsk.set(key, clock.now());
        if (what === 'add') queue.add(key, 'engine event');
        else if (what === 'interrupt') queue.interrupt(key, 'pod removed');
        else queue.add(key, 'due', delayMs);
        await clock.advance(thenMs);
      }
      await clock.advance(10_000);
      stop.abort();
      await clock.advance(100);
      await done;
      assert.equal(overlaps, 0);
      for (const [key, askedAt] of lastAsk)
        assert.ok((lastStart.get(key) ?? -1) >= askedAt, `${key} asked at ${askedAt} ran at ${lastStart.get(key)}`);
      assert.equal(clock.actions.length, 0);
    }),
    { numRuns: 200 },
  );
});

test('what becomes of each key is told', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const told: string[] = [];
  const tell =
    (what: string) =>
    ({ queue: name, key }: QueueKey): void =>
      void told.push(`${what} ${name}/${key}`);
  const queue = new KeyedWorkQueue<string>({
    name: 'pods',
    tell: { keyReady: tell('ready'), keyStarted: tell('started'), keyEnded: tell('ended'), keyRetried: tell('retried') },
    clock,
    backoffMs: () => 1000,
    onError: () => {},
  });
  queue.add('a', 'pod added');
  queue.add('a', 'relist');
  let failures = 0;
  const done = queue.run(() => (failures++ === 0 ? Promise.reject(new Error('once')) : Promise.resolve('on-change')), {
    concurrency: 1,
    signal: stop.signal,
  });
  await clock.advance(1000);
  stop.abort();
  await done;
  assert.deepEqual(
    told,
    ['ready', 'started', 'retried', 'ended', 'ready', 'started', 'ended'].map((what) => `${what} pods/a`),
  );
});
