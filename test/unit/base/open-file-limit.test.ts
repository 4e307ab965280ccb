import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openFileLimit } from '../../../src/base/open-file-limit.ts';

test('how many files may be open is what the kernel says', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-limits-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'limits');
  for (const [line, limit] of [
    ['Max open files            150                  4096                 files     ', 150],
    ['Max open files            unlimited            unlimited            files     ', Number.POSITIVE_INFINITY],
  ] as const) {
    await writeFile(path, `Limit                     Soft Limit           Hard Limit           Units     \n${line}\n`);
    assert.equal(openFileLimit(path), limit);
  }
  await writeFile(path, '');
  assert.throws(() => openFileLimit(path), /expected a line "Max open files" with a number/);
  assert.ok(openFileLimit() > 0);
});
