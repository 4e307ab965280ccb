import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openReplay } from '../../src/open-replay.ts';
import { RecordingFile } from '../../src/recording/recording-file.ts';
import { smallFileSystem } from '../builders/small-file-system.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

test('a full disk ends the recording and nothing else, and what was written is read', async (context) => {
  const { path: disk } = await smallFileSystem(context, 4);
  const path = join(disk, 'rec');
  const log = new RecordingLogger();
  const file = await RecordingFile.create({ path, maxBytes: 64 << 20, clock: systemClock, log });
  file.write({ recording: 'rxlet', version: 1, agent: '0', nowMs: 0, monotonicMs: 0, seed: 1, capabilities: [], options: {} });
  for (let at = 0; at < 300_000; at++) file.write({ in: 'timer', of: at, t: at });
  await file.close();
  file.write({ in: 'timer', of: 1, t: 1 });

  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ['recording ended: it cannot be written'],
  );
  const { damage } = await openReplay(path);
  assert.match(damage ?? '', /^line \d+ is damaged: what is before it is replayed$/);
});
