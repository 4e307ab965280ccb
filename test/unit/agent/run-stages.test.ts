import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_STOPPED_WITHIN_MS, READY_WITHIN_MS, runStages, STOPPED_WITHIN_MS } from '../../../src/agent/run-stages.ts';
import { aborted } from '../../../src/base/aborted.ts';
import { type Stage, type Staged, stages } from '../../../src/ports/staged.ts';
import { nothingGiven as given } from '../../builders/node-parts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

/** Services that note what they do, and what the stages are run with. */
function setUp() {
  const clock = new FakeClock();
  const stop = new AbortController();
  const log = new RecordingLogger();
  const did: string[] = [];
  const service = (name: string, stage: Stage, over: Partial<Staged> = {}): Staged => ({
    name,
    stage,
    run: async (signal) => {
      did.push(`${name} starts`);
      await aborted(signal);
      await clock.sleep(10);
      did.push(`${name} stops`);
    },
    ...over,
  });
  const run = (...services: readonly Staged[]): Promise<void> => runStages(services, { clock, log, given }, stop.signal);
  return { clock, log, stop, did, service, run };
}

test('stages start left to right and stop right to left, each drained before the next, in whatever order their services are listed', async () => {
  const { clock, stop, did, service, run } = setUp();
  const done = run(service('server', 'server'), service('workers', 'workers'), service('token', 'credentials'));
  await clock.advance(0);
  stop.abort();
  await clock.advance(100);
  await done;
  const order = ['token', 'workers', 'server'];
  assert.deepEqual(did, [...order.map((name) => `${name} starts`), ...order.toReversed().map((name) => `${name} stops`)]);
  assert.equal(clock.actions.length, 0);
});

test('a stage starts once all of the one before are ready', async () => {
  const { clock, stop, did, service, run } = setUp();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const early = gates.map((gate, i) => service(`early ${i}`, 'before pods', { ready: () => gate.promise }));
  const done = run(...early, service('workers', 'workers'));
  for (const gate of gates) {
    await clock.advance(1_000);
    assert.ok(!did.includes('workers starts'));
    gate.resolve();
  }
  await clock.advance(0);
  assert.ok(did.includes('workers starts'));
  stop.abort();
  await clock.advance(100);
  await done;
});

test('who is late is named, all that has started stops, and what comes after never starts', async () => {
  const { clock, did, service, run } = setUp();
  const late = service('slow plugin', 'before pods', { ready: () => new Promise(() => {}) });
  const ended = run(late, service('quick', 'before pods', { ready: async () => {} }), service('workers', 'workers'));
  const failed = assert.rejects(ended, (error: Error) => {
    assert.equal(error.message, 'not ready, in the stage "before pods": slow plugin');
    assert.match((error.cause as Error).message, /took longer than 60 s/);
    return true;
  });
  await clock.advance(READY_WITHIN_MS + 100);
  await failed;
  assert.deepEqual(did.toSorted(), ['quick starts', 'quick stops', 'slow plugin starts', 'slow plugin stops']);
});

test('a stop while a stage is getting ready ends at once, and is no failure', async () => {
  const { clock, stop, did, service, run } = setUp();
  const done = run(service('slow', 'before pods', { ready: (signal) => aborted(signal) }), service('workers', 'workers'));
  await clock.advance(1_000);
  stop.abort();
  await clock.advance(100);
  await done;
  assert.deepEqual(did, ['slow starts', 'slow stops']);
  assert.equal(clock.actions.length, 0);
});

test('a service that fails, also while another is getting ready, ends all the others and is named', async () => {
  const { clock, did, service, run } = setUp();
  const broken = service('broken', 'before pods', { run: () => Promise.reject(new Error('no such file')) });
  const waits = service('waits', 'before pods', { ready: () => new Promise(() => {}) });
  const failed = assert.rejects(run(broken, waits, service('workers', 'workers')), { message: 'service broken failed' });
  await clock.advance(100);
  await failed;
  assert.deepEqual(did, ['waits starts', 'waits stops']);
});

test('one whose readiness fails is as late as can be: it is named with why', async () => {
  const { clock, service, run } = setUp();
  const broken = service('broken', 'before pods', { ready: () => Promise.reject(new Error('the port is taken')) });
  const failed = assert.rejects(run(broken), (error: Error) => {
    assert.match(error.message, /broken/);
    assert.match((error.cause as Error).message, /the port is taken/);
    return true;
  });
  await clock.advance(100);
  await failed;
});

test('each service is given what all capabilities contribute', async () => {
  const { clock, stop, service, run } = setUp();
  const seen: unknown[] = [];
  const done = run(service('eviction', 'beside pods', { run: async (_signal, all) => void seen.push(all.reclaim) }));
  await clock.advance(0);
  stop.abort();
  await done;
  assert.deepEqual(seen, [given.reclaim]);
});

test('all services that fail are named, also those that fail while the others stop', async () => {
  const { clock, service, run } = setUp();
  const fails = (name: string): Staged => service(name, 'before pods', { run: () => Promise.reject(new Error(`no ${name}`)) });
  const atTheEnd = service('server', 'server', {
    run: async (signal) => {
      await aborted(signal);
      throw new Error('not closed');
    },
  });
  const running = service('late', 'beside pods', { run: () => clock.sleep(1_000).then(() => Promise.reject(new Error('no late'))) });
  const failed = assert.rejects(run(fails('disk'), fails('network')), {
    message: 'service disk failed: no disk; service network failed: no network',
  });
  const failedLater = assert.rejects(run(running, atTheEnd), {
    message: 'service late failed: no late; service server failed: not closed',
  });
  await clock.advance(2_000);
  await Promise.all([failed, failedLater]);
});

test('what a stop brought about is no failure, however it is wrapped', async () => {
  const { clock, stop, service, run } = setUp();
  const calling = service('token', 'credentials', {
    run: async (signal) => {
      await aborted(signal);
      throw new Error('the call was aborted', { cause: signal.reason });
    },
  });
  const done = run(calling);
  await clock.advance(10);
  stop.abort();
  await done;
});

test('who does not stop is named and left behind, and those before it stop after that', async () => {
  const { clock, stop, did, service, run } = setUp();
  const failed = assert.rejects(run(service('token', 'credentials'), service('stuck', 'workers', { run: () => new Promise(() => {}) })), {
    message: 'not stopped, in the stage "workers": stuck',
  });
  await clock.advance(10);
  stop.abort();
  await clock.advance(STOPPED_WITHIN_MS + 100);
  await failed;
  assert.deepEqual(did, ['token starts', 'token stops']);
  assert.equal(clock.actions.length, 0);
});

test('who takes longer than 5 s to stop is named while it is waited for, and others are not', async () => {
  const { clock, log, stop, service, run } = setUp();
  const slow = service('slow', 'workers', { run: async (signal) => aborted(signal).then(() => clock.sleep(7_000)) });
  const done = run(service('token', 'credentials'), slow, service('quick', 'workers'));
  await clock.advance(10);
  stop.abort();
  await clock.advance(4_990);
  assert.deepEqual(log.lines, []);
  await clock.advance(3_000);
  await done;
  assert.deepEqual(
    log.lines.map(({ fields }) => fields),
    [{ stage: 'workers', services: ['slow'] }],
  );
});

test('all stages have a minute to stop together, and each a second at the least', async () => {
  const { clock, stop, did, service, run } = setUp();
  const stuck = stages.slice(1).map((stage) => service(`stuck in ${stage}`, stage, { run: () => new Promise(() => {}) }));
  const done = run(service('token', 'credentials'), ...stuck).catch((error: Error) => error.message);
  await clock.advance(10);
  stop.abort();
  await clock.advance(ALL_STOPPED_WITHIN_MS + 1_000 * (stuck.length - 2) + 100);
  assert.deepEqual(did, ['token starts', 'token stops']);
  const seconds = [30, 30, ...stuck.slice(2).map(() => 1)];
  const named = stuck
    .toReversed()
    .map(({ name, stage }, i) => `not stopped, in the stage "${stage}": ${name}: stopping took longer than ${seconds[i]} s`);
  assert.equal(await done, named.join('; '));
  assert.equal(clock.actions.length, 0);
});
