import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { filesUnder } from '../../../src/base/files-under.ts';

const directory = mkdtempSync(join(tmpdir(), 'files-under-'));
after(() => rmSync(directory, { recursive: true, force: true }));

test('files come by name, each directory in its place, and links are files', async () => {
  mkdirSync(join(directory, 'a/b.conf/c'), { recursive: true });
  for (const name of ['b.conf', 'a.conf', 'a/z', 'a/b.conf/c/d', '9.conf', '10.conf', 'Z']) writeFileSync(join(directory, name), '');
  symlinkSync('a', join(directory, 'link'));
  assert.deepEqual(await filesUnder(directory), ['10.conf', '9.conf', 'Z', 'a/b.conf/c/d', 'a/z', 'a.conf', 'b.conf', 'link']);
});

test('a directory that is not there, and one with too much in it, are refused', async () => {
  await assert.rejects(filesUnder(join(directory, 'none')), { code: 'ENOENT' });
  const many = mkdtempSync(join(directory, 'many-'));
  for (let at = 0; at < 1_001; at++) writeFileSync(join(many, String(at)), '');
  await assert.rejects(filesUnder(many), { message: 'more than 1000 names' });
});
