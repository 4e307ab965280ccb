import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PathWatch } from '../../../src/configuration/path-watch.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

test('no more than 256 directories are watched, which is said once, and none any more once it is closed', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-path-watch-'));
  const log = new RecordingLogger();
  const watch = new PathWatch(log, () => {});
  try {
    const directories = Array.from({ length: 300 }, (_, n) => join(root, String(n)));
    await Promise.all(directories.map((directory) => mkdir(directory)));
    const lookups = async () => directories.map((directory) => ({ directory, name: 'a' }));
    await watch.arm(lookups);
    await watch.arm(lookups);
    assert.equal(watch.size, 256);
    assert.equal(log.lines.length, 1);
  } finally {
    watch.close();
    await rm(root, { recursive: true });
  }
  assert.equal(watch.size, 0);
});
