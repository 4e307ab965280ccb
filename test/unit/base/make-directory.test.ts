import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeDirectory } from '../../../src/base/make-directory.ts';

const scratch = mkdtempSync(join(tmpdir(), 'make-directory-'));
after(() => rmSync(scratch, { recursive: true }));

test('a directory is made with those above it, and one that is there is left as it is', async () => {
  const path = join(scratch, 'a/b');
  await makeDirectory(path, 0o750);
  await makeDirectory(path, 0o700);
  assert.equal(statSync(path).mode & 0o777, 0o750);
});

test('many may make one at the same time', async () => {
  const path = join(scratch, 'c/d/e');
  await Promise.all(Array.from({ length: 8 }, () => makeDirectory(path, 0o750)));
  assert.ok(statSync(path).isDirectory());
});

test('a file in the way, or a place where nothing can be made, is an error', async () => {
  writeFileSync(join(scratch, 'file'), '');
  await assert.rejects(makeDirectory(join(scratch, 'file'), 0o750), { code: 'EEXIST' });
  await assert.rejects(makeDirectory(join(scratch, 'file/below'), 0o750), { code: 'ENOTDIR' });
  await assert.rejects(makeDirectory('/proc/nowhere/below', 0o750), { code: 'ENOENT' });
});
