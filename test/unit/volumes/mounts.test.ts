import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { systemMounts } from '../../../src/volumes/mounts.ts';

test('no source is an option of mount(8): a pod chooses the name of its server', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'rxlet-mounts-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const mounts = systemMounts({ clock: systemClock });
  const { signal } = new AbortController();
  for (const source of ['--fstab=/nowhere:/table', '-o', '-'])
    await assert.rejects(mounts.mount(directory, { type: 'nfs', source, options: [] }, signal), {
      message: `mount failed: ${source} begins with "-", as no source does`,
    });
});
