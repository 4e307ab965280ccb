import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodUid } from '../../../src/model/pod.ts';
import { orphanSweeper } from '../../../src/volumes/orphan-sweeper.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

test('nothing is swept before every source has spoken; what is in use is tried again, and told once', async () => {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const synced = Promise.withResolvers<void>();
  const stop = new AbortController();
  let [sweeps, busy] = [0, true];
  const uid = 'gone' as PodUid;
  const volumes = {
    sweep: async () => {
      sweeps++;
      return busy ? { removed: [], failed: new Map([[uid, new Error('target is busy')]]) } : { removed: [uid], failed: new Map() };
    },
  };
  const running = orphanSweeper({ volumes, synced: () => synced.promise, isKnown: async () => false, clock, log }).run(stop.signal);
  await clock.advance(120_000);
  assert.equal(sweeps, 0);
  synced.resolve();
  await clock.advance(0);
  await clock.advance(60_000);
  assert.equal(sweeps, 2);
  busy = false;
  await clock.advance(60_000);
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ['orphaned pod directory not removed, retrying', 'orphaned pod directory removed'],
  );
  stop.abort(new Error('stopped'));
  await assert.rejects(running, { message: 'stopped' });
  assert.equal(clock.actions.length, 0);
});
