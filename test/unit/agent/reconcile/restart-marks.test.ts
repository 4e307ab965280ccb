import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { ContainerId } from '../../../../src/ports/container-runtime.ts';
import { restartMarks } from '../../../../src/agent/reconcile/restart-marks.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const uid = 'u1' as PodUid;
let rootDir: string;
let log: RecordingLogger;
beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'rxlet-marks-'));
  log = new RecordingLogger();
});
afterEach(() => rm(rootDir, { recursive: true }));

test('the last mark of each container is found by the next agent', async () => {
  const before = restartMarks(rootDir, log);
  await before.mark(uid, 'a', '1' as ContainerId);
  await before.mark(uid, 'a', '2' as ContainerId);
  await before.mark(uid, 'b', '3' as ContainerId);
  assert.deepEqual(Object.fromEntries(await restartMarks(rootDir, log).load(uid)), { a: '2', b: '3' });
  assert.deepEqual(log.lines, []);
});

test('a pod without marks has none, also where its uid names no directory', async () => {
  const marks = restartMarks(rootDir, log);
  assert.equal((await marks.load(uid)).size, 0);
  assert.deepEqual(log.lines, []);
  assert.equal((await marks.load('../../..' as PodUid)).size, 0);
  await marks.mark('../../..' as PodUid, 'a', '1' as ContainerId);
  assert.deepEqual(await readdir(rootDir), []);
  assert.equal(log.lines.length, 2);
});
