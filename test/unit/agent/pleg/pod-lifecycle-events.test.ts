import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstValueFrom, Observable, Subject } from 'rxjs';
import { errorText } from '../../../../src/base/error-text.ts';
import type { LogFields, Logger } from '../../../../src/base/logger.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { podLifecycleEvents } from '../../../../src/agent/pleg/pod-lifecycle-events.ts';
import type { PodChange } from '../../../../src/ports/pod-lifecycle-events.ts';
import type { ContainerState, PodSummary } from '../../../../src/ports/container-runtime.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const uid = (name: string): PodUid => `uid-${name}` as PodUid;

function pod(name: string, ...phases: readonly ContainerState['phase'][]): PodSummary {
  return {
    uid: uid(name),
    name,
    namespace: 'default',
    parts: phases.map((phase, i) => ({ id: `${name}${i}`, container: `c${i}`, phase })),
  };
}

/** An engine whose listings the test settles, or that answers at once with `pods`. */
function setUp() {
  const clock = new FakeClock();
  const said: { level: string; message: string; fields: LogFields | undefined }[] = [];
  const say =
    (level: string) =>
    (message: string, fields?: LogFields): void => {
      said.push({ level, message, fields });
    };
  const log: Logger = { ...silentLogger, info: say('info'), warn: say('warn'), v: (n, message, fields) => say(`v${n}`)(message, fields) };
  const hints = new Subject<PodUid>();
  const engine = {
    pods: [] as readonly PodSummary[],
    /** Undefined answers with the pods; otherwise asked for each listing. */
    answer: undefined as (() => Promise<readonly PodSummary[]>) | undefined,
    askedAtMs: [] as number[],
    streams: 0,
    signals: [] as AbortSignal[],
  };
  const pleg = podLifecycleEvents({
    runtime: {
      hints: new Observable<PodUid>((out) => {
        engine.streams++;
        return hints.subscribe(out);
      }),
      listPods: (signal) => {
        engine.askedAtMs.push(clock.now());
        engine.signals.push(signal);
        return engine.answer ? engine.answer() : Promise.resolve(engine.pods);
      },
    },
    clock,
    log,
    tell: { relisted: () => {} },
  });
  const changes: (PodChange & { readonly atMs: number })[] = [];
  const relists: (readonly PodSummary[])[] = [];
  const subscribe = () => {
    const both = pleg.changes.subscribe((change) => changes.push({ ...change, atMs: clock.now() }));
    both.add(pleg.relists.subscribe((listed) => relists.push(listed)));
    return both;
  };
  return { clock, said, hints, engine, pleg, changes, relists, subscribe };
}

test('nothing starts before a subscription, and all ends with the last one', async () => {
  const { clock, engine, pleg, hints, subscribe } = setUp();
  await clock.advance(60_000);
  assert.deepEqual([engine.streams, engine.askedAtMs], [0, []]);
  const both = subscribe();
  assert.deepEqual([engine.streams, engine.askedAtMs], [1, [60_000]]);
  await clock.advance(25_000);
  assert.deepEqual([engine.streams, engine.askedAtMs], [1, [60_000, 70_000, 80_000]]);
  both.unsubscribe();
  assert.equal(hints.observed, false);
  await clock.advance(60_000);
  assert.equal(engine.askedAtMs.length, 3);
  assert.equal(clock.actions.length, 0);
  assert.equal(pleg.health().healthy, true);
});

test('a listing under way is aborted when nobody listens any more', async () => {
  const { engine, subscribe } = setUp();
  engine.answer = () => new Promise(() => {});
  subscribe().unsubscribe();
  assert.deepEqual(
    engine.signals.map((s) => s.aborted),
    [true],
  );
});

test('the first relist comes at once, wakes nobody, and reaches late subscribers too', async () => {
  const { clock, engine, pleg, changes, relists, subscribe } = setUp();
  engine.pods = [pod('a', 'running')];
  const both = subscribe();
  await clock.advance(0);
  assert.deepEqual([changes, relists], [[], [engine.pods]]);
  const late: unknown[] = [];
  both.add(pleg.relists.subscribe((listed) => late.push(listed)));
  assert.deepEqual(late, [engine.pods]);
  both.unsubscribe();
});

test('a late subscriber to relists sees the latest also when only changes were listened to', async () => {
  const { clock, engine, pleg } = setUp();
  engine.pods = [pod('a', 'running')];
  const changes = pleg.changes.subscribe();
  await clock.advance(0);
  const late: unknown[] = [];
  pleg.relists.subscribe((listed) => late.push(listed)).unsubscribe();
  assert.deepEqual(late, [engine.pods]);
  changes.unsubscribe();
});

test('an event wakes its pod at once', async () => {
  const { clock, hints, changes, subscribe } = setUp();
  const both = subscribe();
  await clock.advance(1234);
  hints.next(uid('a'));
  assert.deepEqual(changes, [{ uid: uid('a'), reason: 'engine event', atMs: 1234 }]);
  both.unsubscribe();
});

for (const [what, before, after] of [
  ['a part that exited', [pod('a', 'running')], [pod('a', 'exited')]],
  ['a part that was removed', [pod('a', 'running', 'exited')], [pod('a', 'running')]],
  ['a new part', [pod('a', 'running')], [pod('a', 'running', 'created')]],
  ['a new pod', [], [pod('a', 'running')]],
  ['a pod that is gone', [pod('a', 'running')], []],
] as const)
  test(`${what} without an event is found by the next relist, which counts and says it`, async () => {
    const { clock, engine, pleg, changes, said, subscribe } = setUp();
    engine.pods = [pod('other', 'running'), ...before];
    const both = subscribe();
    await clock.advance(0);
    engine.pods = [...after, pod('other', 'running')];
    await clock.advance(30_000);
    assert.deepEqual(changes, [{ uid: uid('a'), reason: 'relist', atMs: 10_000 }]);
    assert.equal(pleg.missed(), 1);
    assert.deepEqual(said, [
      { level: 'v2', message: 'relist found a change without an engine event', fields: { pod: 'default/a', uid: uid('a') } },
    ]);
    both.unsubscribe();
  });

test('parts in another order are no change', async () => {
  const { clock, engine, changes, subscribe } = setUp();
  const a = pod('a', 'running', 'exited');
  engine.pods = [a];
  const both = subscribe();
  await clock.advance(0);
  engine.pods = [{ ...a, parts: a.parts.toReversed() }];
  await clock.advance(10_000);
  assert.deepEqual(changes, []);
  both.unsubscribe();
});

test('a change that an event told is woken again by the relist but is not counted as missed', async () => {
  const { clock, engine, hints, pleg, changes, subscribe } = setUp();
  engine.pods = [pod('a', 'running')];
  const both = subscribe();
  await clock.advance(5_000);
  hints.next(uid('a'));
  engine.pods = [pod('a', 'exited')];
  await clock.advance(5_000);
  assert.deepEqual(
    changes.map(({ reason, atMs }) => [reason, atMs]),
    [
      ['engine event', 5_000],
      ['relist', 10_000],
    ],
  );
  assert.equal(pleg.missed(), 0);
  // The event is used up: the next change needs one of its own.
  engine.pods = [];
  await clock.advance(10_000);
  assert.equal(pleg.missed(), 1);
  both.unsubscribe();
});

test('what follows an event untold and leaves no trace in the listings is woken by the next relist', async () => {
  const { clock, hints, pleg, changes, subscribe } = setUp();
  const both = subscribe();
  await clock.advance(5_000);
  hints.next(uid('came and went'));
  await clock.advance(25_000);
  assert.deepEqual(
    changes.map(({ reason, atMs }) => [reason, atMs]),
    [
      ['engine event', 5_000],
      ['relist', 10_000],
    ],
  );
  assert.equal(pleg.missed(), 0);
  both.unsubscribe();
});

test('an event during a listing, or before one that fails, still counts for the next', async () => {
  const { clock, engine, hints, pleg, subscribe } = setUp();
  engine.pods = [pod('a', 'running')];
  const both = subscribe();
  await clock.advance(9_000);
  const slow = new Subject<readonly PodSummary[]>();
  engine.answer = () => firstValueFrom(slow);
  await clock.advance(1_000);
  hints.next(uid('a'));
  slow.next([pod('a', 'running')]);
  engine.answer = () => Promise.reject(new Error('lost'));
  await clock.advance(10_000);
  engine.answer = () => Promise.resolve([]);
  await clock.advance(1_000);
  assert.deepEqual([engine.askedAtMs, pleg.missed()], [[0, 10_000, 20_000, 21_000], 0]);
  both.unsubscribe();
});

test('a relist waits for its engine call: two never overlap, and the pause is counted from the end', async () => {
  const { clock, engine, relists, subscribe } = setUp();
  const slow = new Subject<readonly PodSummary[]>();
  engine.answer = () => firstValueFrom(slow);
  const both = subscribe();
  await clock.advance(45_000);
  assert.deepEqual(engine.askedAtMs, [0]);
  engine.answer = undefined;
  slow.next([]);
  await clock.advance(10_000);
  assert.deepEqual(engine.askedAtMs, [0, 55_000]);
  assert.equal(relists.length, 2);
  both.unsubscribe();
});

test('a failing relist is retried with growing delays, each distinct error said once, and healing said', async () => {
  const { clock, engine, said, subscribe } = setUp();
  const failure = (text: string) => (): Promise<never> => Promise.reject(new Error(text));
  engine.answer = failure('connection refused');
  const both = subscribe();
  await clock.advance(26_000);
  assert.deepEqual(engine.askedAtMs, [0, 1_000, 3_000, 7_000, 15_000, 25_000]);
  engine.answer = failure('timed out');
  await clock.advance(10_000);
  engine.answer = failure('connection refused');
  await clock.advance(10_000);
  engine.answer = undefined;
  await clock.advance(10_000);
  assert.deepEqual(
    said.map(({ level, message, fields }) => [level, message, fields?.['call'], fields?.['failures'], errorText(fields?.['error'])]),
    [
      ['warn', 'relist failed', 'listPods', undefined, 'connection refused'],
      ['warn', 'relist failed', 'listPods', undefined, 'timed out'],
      ['info', 'relist works again', 'listPods', 8, ''],
    ],
  );
  // What has healed and fails again is said again, and starts with the short delay.
  engine.answer = failure('connection refused');
  await clock.advance(11_000);
  assert.equal(said.length, 4);
  assert.deepEqual(engine.askedAtMs.slice(-2), [65_000, 66_000]);
  both.unsubscribe();
});

test('changes during an outage are found when it ends', async () => {
  const { clock, engine, changes, subscribe } = setUp();
  engine.pods = [pod('a', 'running')];
  const both = subscribe();
  await clock.advance(0);
  engine.answer = () => Promise.reject(new Error('down'));
  await clock.advance(60_000);
  engine.answer = undefined;
  engine.pods = [pod('a', 'exited')];
  await clock.advance(10_000);
  assert.deepEqual(
    changes.map((c) => c.reason),
    ['relist'],
  );
  both.unsubscribe();
});

test('the end of an outage is told, once an outage', async () => {
  const { clock, engine, pleg, subscribe } = setUp();
  let recoveries = 0;
  const both = subscribe();
  both.add(pleg.recoveries.subscribe(() => recoveries++));
  await clock.advance(30_000);
  assert.equal(recoveries, 0);
  for (const expected of [1, 2]) {
    engine.answer = () => Promise.reject(new Error('down'));
    await clock.advance(60_000);
    engine.answer = undefined;
    await clock.advance(40_000);
    assert.equal(recoveries, expected);
  }
  both.unsubscribe();
});

test('health is the age of the last relist that worked, and names the call that is stuck', async () => {
  const { clock, engine, pleg, subscribe } = setUp();
  assert.deepEqual(pleg.health(), { healthy: false, ageMs: 0, message: 'pleg has yet to be successful' });
  const both = subscribe();
  await clock.advance(0);
  assert.deepEqual(pleg.health(), { healthy: true, ageMs: 0, message: '' });
  engine.answer = () => new Promise(() => {});
  await clock.advance(179_999);
  assert.deepEqual(pleg.health(), { healthy: true, ageMs: 179_999, message: '' });
  await clock.advance(1);
  assert.deepEqual(pleg.health(), {
    healthy: false,
    ageMs: 180_000,
    message: 'pleg was last seen active 3m0s ago; threshold is 3m0s; listPods has not answered for 2m50s',
  });
  both.unsubscribe();
});

test('health names the last error while no relist has worked', async () => {
  const { clock, engine, pleg, subscribe } = setUp();
  engine.answer = () => Promise.reject(new Error('connection refused'));
  const both = subscribe();
  await clock.advance(3_500);
  assert.deepEqual(pleg.health(), {
    healthy: false,
    ageMs: 3_500,
    message: 'pleg has yet to be successful; listPods failed 3 times: connection refused',
  });
  both.unsubscribe();
});

test('each relist that worked is told, with its duration and how long after the one before it began', async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  let fails = false;
  const pleg = podLifecycleEvents({
    runtime: {
      hints: new Subject<PodUid>(),
      listPods: async () => {
        await clock.sleep(200);
        if (fails) throw new Error('no engine');
        return [pod('a', 'running')];
      },
    },
    clock,
    log: silentLogger,
    tell: { relisted: ({ pods, ...rest }) => void told.push([rest, pods.map(({ name }) => name)]) },
  });
  const live = pleg.changes.subscribe();
  await clock.advance(300);
  fails = true;
  await clock.advance(10_200);
  fails = false;
  await clock.advance(1_500);
  live.unsubscribe();
  assert.deepEqual(told, [
    [{ atMs: 200, tookMs: 200, intervalMs: undefined }, ['a']],
    [{ atMs: 11_600, tookMs: 200, intervalMs: 1_200 }, ['a']],
  ]);
});
