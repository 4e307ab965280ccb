import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerId, SandboxId } from '../../../../src/ports/container-runtime.ts';
import type { PodAction } from '../../../../src/ports/pod-plan.ts';
import { type Executors, executePlan } from '../../../../src/agent/reconcile/execute-plan.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const stop = (name: string): PodAction => ({ do: 'stopContainer', id: name as ContainerId, name, graceMs: 1, why: '' });
const start = (name: string): PodAction => ({ do: 'startContainer', name, attempt: 0, init: false });
const stopSandbox: PodAction = { do: 'stopSandbox', id: 's' as SandboxId };

async function run(actions: readonly PodAction[], failing: readonly string[] = [], tookMs = 0) {
  const clock = new FakeClock();
  const log: string[] = [];
  const step = async (action: PodAction): Promise<void> => {
    const name = `${action.do}${'name' in action ? ` ${action.name}` : ''}`;
    log.push(`> ${name}`);
    await clock.sleep(tookMs);
    log.push(`< ${name}`);
    if (failing.includes(name)) throw new Error(`${name} failed`);
  };
  const executors: Executors<undefined> = {
    admit: step,
    resize: step,
    prepare: step,
    tearDown: step,
    release: step,
    runSandbox: step,
    startContainer: step,
    updateContainer: step,
    pinContainer: step,
    stopContainer: step,
    removeContainer: step,
    stopSandbox: step,
    removeSandbox: step,
  };
  const stopping = new AbortController();
  const done = executePlan(actions, executors, undefined, { clock, signal: stopping.signal });
  await clock.advance(1000);
  return { log, ...(await done) };
}

test('steps run in order, one after the other', async () => {
  const { log } = await run([{ do: 'runSandbox', attempt: 0 }, start('a'), start('b')], [], 5);
  assert.deepEqual(log, [
    '> runSandbox',
    '< runSandbox',
    '> startContainer a',
    '< startContainer a',
    '> startContainer b',
    '< startContainer b',
  ]);
});

test('stops in a row run together, and what follows waits for all of them', async () => {
  const { log } = await run([stop('a'), stop('b'), stopSandbox], [], 5);
  assert.deepEqual(log.slice(0, 2), ['> stopContainer a', '> stopContainer b']);
  assert.equal(log.indexOf('> stopSandbox'), 4);
});

test('a container that does not start leaves its neighbours alone', async () => {
  const { log, outcomes, errors } = await run([start('a'), start('b')], ['startContainer a']);
  assert.ok(log.includes('< startContainer b'));
  assert.deepEqual(
    outcomes.map(({ error }) => error),
    ['startContainer a failed', undefined],
  );
  assert.equal(errors.length, 1);
});

test('nothing is started in a sandbox that did not come up', async () => {
  const { log } = await run([{ do: 'runSandbox', attempt: 0 }, start('a')], ['runSandbox']);
  assert.deepEqual(log, ['> runSandbox', '< runSandbox']);
});

test('a stop that failed ends the run after its group', async () => {
  const { log } = await run([stop('a'), stop('b'), stopSandbox], ['stopContainer a']);
  assert.ok(log.includes('< stopContainer b'));
  assert.ok(!log.includes('> stopSandbox'));
});

test('after a failed preparation nothing is started, and the rest is done', async () => {
  const actions: readonly PodAction[] = [
    { do: 'prepare' },
    { do: 'runSandbox', attempt: 0 },
    start('a'),
    { do: 'removeSandbox', id: 's' as SandboxId },
  ];
  const { log, errors } = await run(actions, ['prepare']);
  assert.deepEqual(log, ['> prepare', '< prepare', '> removeSandbox', '< removeSandbox']);
  assert.equal(errors.length, 1);
});

test('what an action noted is in its outcome, and the earliest time to look again is kept', async () => {
  const notes = [{ note: 'a is as it was', retryInMs: 5_000 }, { note: 'b is as it was', retryInMs: 3_000 }, { note: 'c is well' }];
  const executors = { prepare: async () => notes.shift() } as unknown as Executors<undefined>;
  const prepare: PodAction = { do: 'prepare' };
  const { signal } = new AbortController();
  const { outcomes, retryInMs } = await executePlan([prepare, prepare, prepare], executors, undefined, { clock: new FakeClock(), signal });
  assert.deepEqual(
    outcomes.map(({ note }) => note),
    ['a is as it was', 'b is as it was', 'c is well'],
  );
  assert.equal(retryInMs, 3_000);
});
