import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import type { PodUid } from '../../../src/model/pod.ts';
import { orphanSweeper } from '../../../src/volumes/orphan-sweeper.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

test('nothing is swept before every source has spoken; what is in use is tried again, and told once', async () => {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const synced = new Subject<boolean>();
  const stop = new AbortController();
  let [sweeps, busy] = [0, true];
  const uid = 'gone' as PodUid;
  const volumes = {
    sweep: async () => {
      sweeps++;
      return busy ? { removed: [], failed: new Map([[uid, new Error('target is busy')]]) } : { removed: [uid], failed: new Map() };
    },
  };
  const running = orphanSweeper({ volumes, synced, isKnown: async () => false, clock, log }).run(stop.signal);
  await clock.advance(120_000);
  assert.equal(sweeps, 0);
  synced.next(true);
  await clock.advance(0);
  await clock.advance(60_000);
  assert.equal(sweeps, 2);
  busy = false;
  await clock.advance(60_000);
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ['what an orphaned pod has left on disk cannot be removed yet', 'removed what an orphaned pod had left on disk'],
  );
  stop.abort(new Error('stopped'));
  await assert.rejects(running, { message: 'stopped' });
  assert.equal(clock.actions.length, 0);
});
