import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, mkdtemp, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { setVolumeOwnership } from '../../../src/volumes/volume-ownership.ts';

import { longestName, makeDeep, makeWide } from '../../builders/a-big-tree.ts';

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
afterEach(() => promisify(execFile)('rm', ['-rf', root]));

async function found(): Promise<Readonly<Record<string, string>>> {
  const shown = async (path: string): Promise<readonly [string, string]> => {
    const { uid, gid, mode } = await lstat(join(root, path));
    return [path, `${uid}:${gid} ${(mode & 0o7777).toString(8)}`];
  };
  return Object.fromEntries(await Promise.all(['v', 'v/sub', 'v/sub/file', 'v/sub/link', 'outside'].map(shown)));
}

test('everything belongs to the group, which may use it and passes on; owners stay, links are given and not followed', async () => {
  await setVolumeOwnership(join(root, 'v'), { fsGroup, readOnly: false });
  const links = { 'v/sub/link': '0:4321 777', outside: '0:0 600' };
  assert.deepEqual(await found(), { v: '0:4321 2775', 'v/sub': '0:4321 2770', 'v/sub/file': '1000:4321 4660', ...links });
});

test('of a volume that is only read the group may only read', async () => {
  await setVolumeOwnership(join(root, 'v'), { fsGroup, readOnly: true });
  const links = { 'v/sub/link': '0:4321 777', outside: '0:0 600' };
  assert.deepEqual(await found(), { v: '0:4321 2755', 'v/sub': '0:4321 2750', 'v/sub/file': '1000:4321 4640', ...links });
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

test('all of a volume is given that is deeper than a path can say, of names that are no UTF-8', async () => {
  makeDeep(join(root, 'v'), 50, longestName());
  makeDeep(join(root, 'v'), 2_500);
  makeWide(join(root, 'v'), 500, longestName);
  await setVolumeOwnership(join(root, 'v'), { fsGroup, readOnly: false });
  const { stdout } = await promisify(execFile)('find', [join(root, 'v'), '-printf', '%G %y\n'], {
    maxBuffer: 2 ** 24,
  });
  const lines = stdout.trim().split('\n');
  assert.deepEqual(
    [lines.length, new Set(lines)],
    [4 + 50 + 1 + 2_500 + 1 + 500, new Set([`${fsGroup} d`, `${fsGroup} f`, `${fsGroup} l`])],
  );
});

test('a directory whose place is taken by a link meanwhile leads to nothing else', async () => {
  await mkdir(join(root, 'elsewhere/below'), { recursive: true });
  await writeFile(join(root, 'elsewhere/below/precious'), '', { mode: 0o600 });
  const stop = new AbortController();
  let swaps = 0;
  const attack = async (): Promise<void> => {
    for (; !stop.signal.aborted; swaps++) {
      await rename(join(root, 'v/sub'), join(root, 'v/was'));
      await symlink('../elsewhere/below', join(root, 'v/sub'));
      await unlink(join(root, 'v/sub'));
      await rename(join(root, 'v/was'), join(root, 'v/sub'));
    }
  };
  const attacking = attack();
  for (let i = 0; i < 200; i++) await setVolumeOwnership(join(root, 'v'), { fsGroup: fsGroup + i, readOnly: false });
  stop.abort();
  await attacking;
  assert.ok(swaps > 50, `${swaps}`);
  for (const path of ['elsewhere', 'elsewhere/below', 'elsewhere/below/precious']) assert.equal((await lstat(join(root, path))).gid, 0);
});

test('each thing that is looked at says that the file system answers, be it a link', async () => {
  for (let i = 0; i < 50; i++) await symlink('nowhere', join(root, `v/link-${i}`));
  let answers = 0;
  await setVolumeOwnership(join(root, 'v'), { fsGroup, readOnly: false }, () => void answers++);
  assert.ok(answers >= 53, `${answers}`);
});
