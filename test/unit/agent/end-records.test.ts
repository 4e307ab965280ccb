import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endRecords } from '../../../src/agent/end-records.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const uid = 'uid-web' as PodUid;
const end = { reason: 'Evicted', message: 'the disk is full', graceSeconds: 1 };

test('an end that a full disk did not take is written once there is room, and complained of once', async () => {
  const disk = { isFull: true, written: 0 };
  const log = new RecordingLogger();
  const files = {
    open: () => ({
      load: () => undefined,
      save: async () => {
        if (disk.isFull) throw new Error('ENOSPC');
        disk.written++;
      },
    }),
  };
  const records = endRecords(() => files, log);
  records.retry(uid);
  records.save(uid, end);
  for (let i = 0; i < 3; i++) {
    await records.settled(uid);
    records.retry(uid);
  }
  await records.settled(uid);
  assert.deepEqual([disk.written, log.lines.length], [0, 1]);
  disk.isFull = false;
  records.retry(uid);
  records.retry(uid);
  await records.settled(uid);
  records.retry(uid);
  await records.settled(uid);
  assert.equal(disk.written, 1);
});
