import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endRecords } from '../../../src/agent/end-records.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const uids = ['uid-a', 'uid-b', 'uid-c'] as PodUid[];
const end = { reason: 'Evicted', message: 'the disk is full', graceSeconds: 1 };

test('ends that a full disk did not take are written once there is room, and reported once each', async () => {
  const disk = { isFull: true, written: 0, tries: 0 };
  const log = new RecordingLogger();
  const files = {
    open: () => ({
      load: () => undefined,
      save: async () => {
        disk.tries++;
        if (disk.isFull) throw new Error('ENOSPC');
        disk.written++;
      },
    }),
  };
  const clock = new FakeClock();
  const records = endRecords(() => files, clock, log);
  const later = async (): Promise<void> => {
    await clock.advance(1_000);
    await Promise.all(uids.map((uid) => records.settled(uid, never)));
  };
  for (const uid of uids) records.save(uid, end);
  for (let i = 0; i < 3; i++) await later();
  assert.deepEqual([disk.written, log.lines.length], [0, uids.length]);
  assert.ok(disk.tries <= uids.length + 3, `${disk.tries} tries: one a second, whatever their number`);
  disk.isFull = false;
  await later();
  await later();
  assert.equal(disk.written, uids.length);
  await later();
  assert.equal(disk.written, uids.length);
});

test('what is gone is not written any more, and leaves no timer', async () => {
  const clock = new FakeClock();
  let tries = 0;
  const files = { open: () => ({ load: () => undefined, save: () => (tries++, Promise.reject(new Error('ENOSPC'))) }) };
  const records = endRecords(() => files, clock, new RecordingLogger());
  for (const uid of uids) records.save(uid, end);
  await Promise.all(uids.map((uid) => records.settled(uid, never)));
  for (const uid of uids) records.forget(uid);
  await clock.advance(10_000);
  assert.equal(tries, uids.length);
});

test('a disk that never answers is named after half a minute: the release of the pod has failed, and is tried again', async () => {
  const clock = new FakeClock();
  const files = { open: () => ({ load: () => undefined, save: () => new Promise<void>(() => {}) }) };
  const records = endRecords(() => files, clock, new RecordingLogger());
  const [uid = 'none' as PodUid] = uids;
  records.save(uid, end);
  const settled = assert.rejects(records.settled(uid, never), /writing the end of a pod to disk took longer than 30 s/);
  await clock.advance(30_000);
  await settled;
});
