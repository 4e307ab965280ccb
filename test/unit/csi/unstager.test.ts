import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import { abortable } from '../../../src/base/abortable.ts';
import type { CsiDriver } from '../../../src/csi/csi-driver.ts';
import { KnownVolumes, volumeKey } from '../../../src/csi/known-volumes.ts';
import { Unstager } from '../../../src/csi/unstager.ts';
import { CsiPaths } from '../../../src/csi/volume-paths.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const asDriver = (name: string): CsiDriver => ({
  name,
  info: { nodeId: 'n', maxVolumes: 0, topology: {} },
  can: () => true,
  call: () => Promise.reject(new Error('not here')),
  close: () => {},
});

test('a driver that hangs, or fails, at many volumes holds up those of no other, and is asked about 64 at a time', async (t) => {
  const clock = new FakeClock();
  const paths = new CsiPaths('/root');
  const known = new KnownVolumes(paths);
  const add = (driver: string, handle: string): void =>
    known.stage({ driver, handle, paths: paths.staged(driver, handle), isBlock: false, isSure: true, context: undefined });
  for (const driver of ['bad', 'hangs']) for (let i = 0; i < 100; i++) add(driver, `${i}`);
  add('good', 'a');
  const asked: string[] = [];
  const unstager = new Unstager({
    known,
    volumes: {
      unstage: async (key, { name }, signal) => {
        asked.push(key);
        if (name === 'hangs') await abortable(signal, () => {});
        if (name === 'bad') throw new Error('no');
        known.unstage(key);
      },
    },
    drivers: { find: asDriver, changes: new Subject() },
    clock,
    log: new RecordingLogger(),
  });
  const stop = new AbortController();
  const running = unstager.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  await clock.advance(0);
  assert.equal(known.staged(volumeKey('good', 'a')), undefined);
  const of = (driver: string): number => new Set(asked.filter((key) => key.startsWith(driver))).size;
  assert.deepEqual([of('bad'), of('hangs')], [100, 64]);
});
