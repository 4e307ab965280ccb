import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Subject } from 'rxjs';
import { Backoff } from '../../src/base/backoff.ts';
import type { Clock } from '../../src/base/clock.ts';
import { foldRepeats } from '../../src/base/fold-repeats.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { TokenBucket } from '../../src/base/token-bucket.ts';
import { withDeadline } from '../../src/base/with-deadline.ts';
import { EventCorrelator } from '../../src/cluster/events/event-correlator.ts';
import { fakeEngine } from '../../src/engines/fake/fake-engine.ts';
import { deadline } from '../../src/base/deadline.ts';
import { formatTime, parseTime } from '../../src/model/time.ts';
import { lastKnown } from '../../src/node/last-known.ts';
import { NodeLease } from '../../src/node/node-lease.ts';
import { NodeStatusReporter } from '../../src/node/node-status-reporter.ts';
import { CachedObjects } from '../../src/objects/cached-objects.ts';
import { TokenManager } from '../../src/objects/token-manager.ts';
import { podLifecycleEvents } from '../../src/agent/pleg/pod-lifecycle-events.ts';
import type { KubeApi } from '../../src/ports/kube-api.ts';
import { KeyedWorkQueue } from '../../src/agent/queue/keyed-work-queue.ts';
import { ExpiringCache } from '../../src/server/auth/expiring-cache.ts';
import { IdleTimer } from '../../src/base/spdy/idle-timer.ts';
import { CpuRates } from '../../src/stats/cpu-rates.ts';
import { SharedMeasure } from '../../src/stats/shared-measure.ts';
import { FailedMounts } from '../../src/volumes/failed-mounts.ts';
import { aPod } from '../builders/a-pod.ts';
import { someNodeFacts } from '../builders/node-facts.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { silentHappenings } from '../fakes/silent-happenings.ts';
import { FakeKubeApi } from '../fakes/fake-kube-api.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

const HOUR_MS = 3_600_000;
const { signal } = new AbortController();
const pod = aPod('web');

/** A clock whose date is set to and fro while time passes. */
class RestlessClock extends FakeClock {
  readonly #jumpsMs: readonly number[];
  #jumped = 0;

  constructor(jumpsMs: readonly number[]) {
    super();
    this.#jumpsMs = jumpsMs;
  }

  override async advance(ms: number): Promise<void> {
    const end = this.frame + ms;
    for (const part of this.#jumpsMs.map((_, i, all) => Math.floor((ms * (i + 1)) / (all.length + 1)))) {
      await super.advance(end - ms + part - this.frame);
      this.moveDate(this.#jumpsMs[this.#jumped++ % this.#jumpsMs.length] ?? 0);
    }
    await super.advance(end - this.frame);
  }
}

/** What becomes of something that ages, in a script of its own; nothing of it is a date. */
const stories: Readonly<Record<string, (clock: FakeClock) => Promise<unknown>>> = {
  'a deadline of 200 ms, moved on once': async (clock) => {
    using within = deadline(clock, 200, 'the request', signal);
    const missed: boolean[] = [];
    await clock.advance(150);
    within.extend(200);
    for (const ms of [199, 1, 2_000]) {
      await clock.advance(ms);
      missed.push(within.missed);
    }
    return missed;
  },
  'a call with a deadline': async (clock) => {
    const call = withDeadline(clock, 200, 'the call', signal, (within) => clock.sleep(10_000, within)).catch(() => clock.monotonicMs());
    await clock.advance(2_000);
    return call;
  },
  'an answer about a token that is kept for 50 ms': async (clock) => {
    const cache = new ExpiringCache<number>(9, clock);
    let asked = 0;
    const seen: number[] = [];
    for (const ms of [0, 49, 1, 500, 10]) {
      await clock.advance(ms);
      seen.push(
        await cache.get(
          'token',
          signal,
          async () => ++asked,
          () => 50,
        ),
      );
    }
    return seen;
  },
  'a back-off': async (clock) => {
    const backoff = new Backoff({ clock, baseMs: 10_000, maxMs: 300_000 });
    const held: boolean[] = [];
    for (const ms of [0, 9_999, 1, 19_999, 1, 700_000, 9_999, 1]) {
      await clock.advance(ms);
      held.push(backoff.isInBackOffSinceUpdate('a', clock.monotonicMs()));
      if (!held.at(-1)) backoff.next('a', clock.monotonicMs());
      backoff.gc();
    }
    return held;
  },
  'the turns of a token bucket': async (clock) => {
    const bucket = new TokenBucket({ rate: () => ({ qps: 10, burst: 2 }), clock });
    const turns: number[] = [];
    for (let i = 0; i < 8; i++) void bucket.acquire(signal).then(() => turns.push(clock.monotonicMs()));
    await clock.advance(5_000);
    turns.push(...[1, 2, 3].map(() => Number(bucket.tryAcquire())));
    return turns;
  },
  'the runs of a work queue': async (clock) => {
    const runs: number[] = [];
    const stop = new AbortController();
    const queue = new KeyedWorkQueue<string>({
      name: 'pods',
      tell: silentHappenings,
      clock,
      backoffMs: (failures) => failures * 1_000,
      onError: () => {},
    });
    const running = queue.run(
      async (key) => {
        runs.push(clock.monotonicMs());
        if (key === 'bad') throw new Error('bad');
        return { afterMs: 7_000 };
      },
      { concurrency: 2, signal: stop.signal },
    );
    queue.add('bad', 'due', 500);
    queue.add('good', 'due', 2_000);
    queue.add('good', 'due', 1_000);
    await clock.advance(60_000);
    stop.abort();
    await running;
    return runs;
  },
  'a stream that is idle': async (clock) => {
    let idleAtMs: number | undefined;
    const idle = new IdleTimer(clock, 60_000, () => (idleAtMs = clock.monotonicMs()));
    await clock.advance(59_000);
    idle.touch();
    await clock.advance(200_000);
    idle.stop();
    return idleAtMs;
  },
  'lines of a log that repeat': async (clock) => {
    const log = new RecordingLogger();
    const folding = foldRepeats(log, { clock, windowMs: 60_000 });
    for (const ms of [0, 1_000, 58_000, 2_000, 61_000, 200_000]) {
      await clock.advance(ms);
      folding.info('again');
    }
    folding.flush();
    return log.lines;
  },
  'a fact that is slow to get': async (clock) => {
    let asked = 0;
    const fact = lastKnown({ read: async () => ++asked, clock, maxAgeMs: 30_000, waitMs: 500 });
    const seen: unknown[] = [];
    for (const ms of [0, 29_999, 1, 60_000]) {
      await clock.advance(ms);
      seen.push(await fact(signal));
    }
    return seen;
  },
  'a measurement that several share': async (clock) => {
    let measured = 0;
    const measure = new SharedMeasure(clock, 1_000, async () => ++measured);
    const seen: number[] = [];
    for (const ms of [0, 999, 1, 1_000]) {
      await clock.advance(ms);
      seen.push(await measure.ask(signal));
    }
    return seen;
  },
  'a processor’s rate': async (clock) => {
    const rates = new CpuRates();
    const seen: (number | undefined)[] = [];
    for (const ms of [0, 1_000, 2_000, 30_000]) {
      await clock.advance(ms);
      seen.push(rates.rate('a', { atMs: clock.monotonicMs(), usageCoreNanoSeconds: clock.monotonicMs() * 500_000 }));
    }
    return seen;
  },
  'an object that was read': async (clock) => {
    let reads = 0;
    const request: KubeApi['request'] = async <T>() => ({ metadata: { name: 'c' }, reads: ++reads }) as T;
    const store = new CachedObjects({ api: { request }, clock, ttlMs: 60_000 });
    const withObject = aPod('web', { volumes: [{ name: 'v', configMap: { name: 'c' } }] });
    store.register(withObject);
    const { namespace } = withObject.metadata;
    for (const ms of [0, 59_999, 1, 60_000]) {
      await clock.advance(ms);
      await store.get({ kind: 'ConfigMap', namespace, name: 'c' }, signal);
    }
    return reads;
  },
  'events that are alike': async (clock) => {
    const correlator = new EventCorrelator((name) => name);
    const sent: string[] = [];
    const about = { kind: 'Pod', namespace: 'default', name: 'web', uid: 'u' };
    for (let i = 0; i < 40; i++) {
      await clock.advance(20_000);
      const event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `e${i}`, namespace: 'default' },
        involvedObject: about,
        type: 'Warning',
        reason: 'BackOff',
        message: `m ${i}`,
        source: { component: 'kubelet', host: 'n' },
        reportingComponent: 'kubelet',
        reportingInstance: 'n',
        firstTimestamp: '',
        lastTimestamp: '',
        count: 1,
      } as const;
      sent.push(correlator.correlate(event, { dateMs: clock.now(), monotonicMs: clock.monotonicMs() }).send);
    }
    return sent;
  },
  'mounts that fail': async (clock) => {
    const told: string[] = [];
    const mounts = new FailedMounts(clock, { record: (_, __, ___, message) => void told.push(`${clock.monotonicMs()} ${message}`) });
    for (let i = 0; i < 60; i++) {
      mounts.failed(pod, 'v', { reason: 'FailedMount', message: 'no such disk' });
      mounts.waits(pod, ['v'], ['v']);
      await clock.advance(5_000);
    }
    return told;
  },
  'the renewals of a node’s lease': async (clock) => {
    const sentAtMs: number[] = [];
    const api = new FakeKubeApi({ now: () => 0 });
    api.put('/api/v1/nodes/n1', {});
    const stop = new AbortController();
    const door = api.door('heartbeat');
    const request: KubeApi['request'] = (asked, within) => {
      sentAtMs.push(clock.monotonicMs());
      return door.request(asked, within);
    };
    const lease = new NodeLease({
      clock,
      log: silentLogger,
      api: { ...door, request },
      nodeName: 'n1',
      leaseDurationSeconds: 40,
      tell: silentHappenings,
    });
    const running = lease.run(stop.signal);
    await clock.advance(100_000);
    stop.abort();
    await running;
    return sentAtMs;
  },
  'the reports of a node’s status': async (clock) => {
    const sentAtMs: number[] = [];
    const api = new FakeKubeApi({ now: () => 0 });
    const stop = new AbortController();
    const door = api.door('heartbeat');
    const request: KubeApi['request'] = (asked, within) => {
      if (asked.method === 'PATCH') sentAtMs.push(clock.monotonicMs());
      return door.request(asked, within);
    };
    const running = new NodeStatusReporter({
      clock,
      log: silentLogger,
      api: { ...door, request },
      nodeName: 'n1',
      initial: { metadata: { name: 'n1' } },
      facts: async () => someNodeFacts({ nowMs: clock.now() }),
      errors: () => [],
      conditions: () => [],
      provided: () => ({ capacity: {}, allocatable: {} }),
      wakes: new Subject(),
      nodes: new Subject(),
      record: () => {},
      frequencies: () => ({ updateMs: 10_000, reportMs: 300_000 }),
      random: () => 0,
    }).run(stop.signal);
    await clock.advance(1_000_000);
    stop.abort();
    await running;
    return sentAtMs;
  },
  'relists, and how the health of them is told': async (clock) => {
    const { runtime, controls } = fakeEngine({ clock, log: silentLogger, latencyMs: 0 });
    const pleg = podLifecycleEvents({ runtime, clock, log: silentLogger, tell: { relisted: () => {} } });
    const healthy: (readonly [boolean, number])[] = [];
    const subscription = pleg.relists.subscribe();
    for (const ms of [1_000, 30_000]) {
      await clock.advance(ms);
      healthy.push([pleg.health().healthy, pleg.health().ageMs]);
    }
    controls.fail('listPods', undefined, 1_000);
    for (const ms of [170_000, 30_000]) {
      await clock.advance(ms);
      healthy.push([pleg.health().healthy, pleg.health().ageMs]);
    }
    subscription.unsubscribe();
    controls.close();
    return healthy;
  },
};

const jumpMs = fc.constantFrom(1_000, HOUR_MS, 8_760 * HOUR_MS).chain((ms) => fc.constantFrom(ms, -ms));

describe('nothing that ages takes notice of the date', () => {
  for (const [what, story] of Object.entries(stories))
    test(`${what}: the same, however the date is set meanwhile`, async () => {
      const calm = await story(new FakeClock());
      await fc.assert(
        fc.asyncProperty(fc.array(jumpMs, { minLength: 1, maxLength: 4 }), async (jumpsMs) => {
          const clock = new RestlessClock(jumpsMs);
          assert.deepEqual(await story(clock), calm);
          assert.equal(clock.actions.filter(({ closed }) => !closed).length, 0, 'timers are left');
        }),
        { numRuns: 25 },
      );
    });
});

describe('a service account token', () => {
  const issued = (clock: Clock, serverAheadMs: number) => {
    const asked: number[] = [];
    const request: KubeApi['request'] = async <T>() => {
      asked.push(clock.monotonicMs());
      const status = { token: `t${asked.length}`, expirationTimestamp: formatTime(clock.now() + serverAheadMs + 600_000) };
      assert.ok(parseTime(status.expirationTimestamp) !== undefined);
      return { spec: { expirationSeconds: 600 }, status } as T;
    };
    const tokens = new TokenManager({ api: { request }, clock, log: silentLogger, random: () => 0 });
    return { asked, ask: () => tokens.get(pod, { audience: '', expirationSeconds: 600 }, signal) };
  };

  for (const hours of [-8_760, -1, 1, 8_760])
    test(`is renewed in time where the server’s clock is ${hours} h ahead`, async () => {
      const clock = new FakeClock();
      const { asked, ask } = issued(clock, hours * HOUR_MS);
      for (let i = 0; i < 20; i++) {
        await ask();
        await clock.advance(60_000);
      }
      assert.deepEqual(asked, [0, 480_000, 960_000]);
    });

  test('is no longer good after its life by either time: set back, the date does not make it young again', async () => {
    const clock = new FakeClock();
    const { asked, ask } = issued(clock, 0);
    await ask();
    clock.moveDate(-HOUR_MS);
    await clock.advance(480_000);
    await ask();
    assert.equal(asked.length, 2);
    // As after an hour of suspension.
    clock.moveDate(HOUR_MS);
    await ask();
    await ask();
    assert.equal(asked.length, 3);
  });
});
