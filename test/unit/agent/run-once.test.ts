import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER } from 'rxjs';
import { runOnce } from '../../../src/agent/run-once.ts';
import { runStages } from '../../../src/agent/run-stages.ts';
import { aborted } from '../../../src/base/aborted.ts';
import type { Staged } from '../../../src/ports/staged.ts';
import { nothingGiven as given } from '../../builders/node-parts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

/** An agent that runs once with a service before its pods, and a source that has nothing once it is asked. */
function anAgent(ready: (clock: FakeClock, signal: AbortSignal) => Promise<void>) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const stop = new AbortController();
  const spoken = Promise.withResolvers<void>();
  const pods = { list: () => [], synced: false, syncedOnce: spoken.promise };
  const before: Staged = { name: 'plugin', stage: 'before pods', run: aborted, ready: (signal) => ready(clock, signal) };
  const source: Staged = {
    name: 'intake',
    stage: 'intake',
    run: async (signal) => {
      pods.synced = true;
      spoken.resolve();
      await aborted(signal);
    },
  };
  const code = runOnce({
    run: (signal, besides) => runStages([before, source, besides], { clock, log, given }, signal),
    pods,
    sources: [],
    statuses: { changes: NEVER },
    clock,
    log,
    signal: stop.signal,
  });
  return { clock, log, stop, code };
}

test('sources have their time from when they are asked, however long the stages before that take', async () => {
  const agent = anAgent((clock) => clock.sleep(40_000));
  await agent.clock.advance(41_000);
  assert.equal(await agent.code, 0);
  assert.deepEqual(agent.log.lines, []);
});

test('a service that is never ready is what it ends with, not that manifests were not read', async () => {
  const agent = anAgent(() => new Promise(() => {}));
  const failed = assert.rejects(agent.code, { message: 'not ready, in the stage "before pods": plugin' });
  await agent.clock.advance(61_000);
  await failed;
  assert.deepEqual(agent.log.lines, []);
});

test('a stop before the sources were asked ends it with 1', async () => {
  const agent = anAgent((_clock, signal) => aborted(signal));
  await agent.clock.advance(1_000);
  agent.stop.abort(new Error('SIGTERM'));
  await agent.clock.advance(1_000);
  assert.equal(await agent.code, 1);
});
