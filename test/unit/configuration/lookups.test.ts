import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { lookupsOf } from '../../../src/configuration/lookups.ts';

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'rxlet-lookups-')));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Below the root, as "directory name". */
async function lookups(path: string): Promise<readonly string[]> {
  const all = await lookupsOf(join(root, path));
  return all.filter(({ directory }) => directory.startsWith(root)).map(({ directory, name }) => `${directory.slice(root.length)}/ ${name}`);
}

test('a file is looked up by its name, below every directory on the way', async () => {
  await mkdir(join(root, 'a/b'), { recursive: true });
  await writeFile(join(root, 'a/b/config.yaml'), '');
  assert.deepEqual(await lookups('a/b/config.yaml'), ['/ a', '/a/ b', '/a/b/ config.yaml']);
});

test('of a mounted ConfigMap the link that is exchanged is looked up, and what lies behind it', async () => {
  await mkdir(join(root, '..2026'));
  await writeFile(join(root, '..2026/config.yaml'), '');
  await symlink('..2026', join(root, '..data'));
  await symlink('..data/config.yaml', join(root, 'config.yaml'));
  assert.deepEqual(await lookups('config.yaml'), ['/ config.yaml', '/ ..data', '/ ..2026', '/..2026/ config.yaml']);
});

test('links that lead up, or start at the root, are followed', async () => {
  await mkdir(join(root, 'etc'));
  await mkdir(join(root, 'srv'));
  await writeFile(join(root, 'srv/c'), '');
  await symlink('../srv', join(root, 'etc/up'));
  await symlink(join(root, 'etc/up/c'), join(root, 'etc/c'));
  const found = await lookups('etc/c');
  assert.deepEqual(found.slice(0, 2), ['/ etc', '/etc/ c']);
  assert.deepEqual(found.slice(-3), ['/etc/ up', '/ srv', '/srv/ c']);
});

test('what is not there ends it, and so do links in a circle', async () => {
  assert.deepEqual(await lookups('none/config.yaml'), ['/ none']);
  await symlink('b', join(root, 'a'));
  await symlink('a', join(root, 'b'));
  assert.ok((await lookups('a')).length <= 42);
});
