import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { touchDirectly } from '../../../src/base/touch.ts';
import { findLocal, isMountOf } from '../../../src/volumes/local-volume.ts';

test('a path is looked at without links, and what is no block device has no number', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'local-volume-')));
  t.after(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'file'), '');
  await symlink(root, join(root, 'link'));
  const found = (path: string) => findLocal.run({ path }, touchDirectly);
  assert.deepEqual(await found(join(root, 'link')), { real: root, isDirectory: true });
  assert.deepEqual(await found(join(root, 'link/file')), { real: join(root, 'file'), isDirectory: false });
  assert.deepEqual(await found('/dev/null'), { real: '/dev/null', isDirectory: false });
  await assert.rejects(found(join(root, 'nothing')), { code: 'ENOENT' });
});

test('a mount is of a device by its number or its name; one of several devices may be of any', async () => {
  const is = (device: string, source: string): Promise<boolean> => isMountOf({ device, source, fsType: 'x' }, '/dev/dm-3', '253:3');
  assert.equal(await is('253:3', '/dev/mapper/vg-lv'), true);
  assert.equal(await is('259:1', '/dev/dm-3'), true);
  assert.equal(await is('0:51', '/dev/sdc'), true);
  assert.equal(await is('8:16', '/dev/sdb'), false);
  assert.equal(await is('8:16', 'server:/export'), false);
});
