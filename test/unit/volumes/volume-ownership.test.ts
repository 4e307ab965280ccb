import assert from 'node:assert/strict';
import { chmod, chown, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setVolumeOwnership } from '../../../src/volumes/volume-ownership.ts';

const fsGroup = 4321;
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-owned-'));
  await mkdir(join(root, 'v/sub'), { recursive: true });
  await writeFile(join(root, 'v/sub/file'), '');
  await writeFile(join(root, 'outside'), '', { mode: 0o600 });
  await symlink('../../outside', join(root, 'v/sub/link'));
  await chown(join(root, 'v/sub/file'), 1000, 0);
  for (const [path, mode] of [
    ['v', 0o755],
    ['v/sub', 0o700],
    ['v/sub/file', 0o4600],
  ] as const)
    await chmod(join(root, path), mode);
});
afterEach(() => rm(root, { recursive: true }));

async function found(): Promise<Readonly<Record<string, string>>> {
  const shown = async (path: string): Promise<readonly [string, string]> => {
    const { uid, gid, mode } = await lstat(join(root, path));
    return [path, `${uid}:${gid} ${(mode & 0o7777).toString(8)}`];
  };
  return Object.fromEntries(await Promise.all(['v', 'v/sub', 'v/sub/file', 'outside'].map(shown)));
}

test('everything belongs to the group, which may use it and passes on; owners stay, links are not followed', async () => {
  await setVolumeOwnership(join(root, 'v'), { fsGroup, readOnly: false });
  assert.deepEqual(await found(), { v: '0:4321 2775', 'v/sub': '0:4321 2770', 'v/sub/file': '1000:4321 4660', outside: '0:0 600' });
});

test('of a volume that is only read the group may only read', async () => {
  await setVolumeOwnership(join(root, 'v'), { fsGroup, readOnly: true });
  assert.deepEqual(await found(), { v: '0:4321 2755', 'v/sub': '0:4321 2750', 'v/sub/file': '1000:4321 4640', outside: '0:0 600' });
});

test('OnRootMismatch: what is in the volume is left alone when its own directory is right', async () => {
  await chown(join(root, 'v'), 0, fsGroup);
  for (const [mode, isLeftAlone] of [
    [0o2770, true],
    [0o2775, true],
    [0o770, false],
    [0o2750, false],
  ] as const) {
    await chmod(join(root, 'v'), mode);
    const before = await found();
    await setVolumeOwnership(join(root, 'v'), { fsGroup, policy: 'OnRootMismatch', readOnly: false });
    const after = await found();
    assert.equal(after['v/sub'] === before['v/sub'], isLeftAlone, mode.toString(8));
    await chown(join(root, 'v/sub'), 0, 0);
  }
});
