import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { presentPart, realPath } from '../../../src/base/real-path.ts';
import { type Touch, touchDirectly } from '../../../src/base/touch.ts';

test('a path is the same without its links as the system has it, and each step is told without links', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'rxlet-real-')));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'a/b/c'), { recursive: true });
  await symlink('a/b', join(root, 'relative'));
  await symlink(join(root, 'relative/c'), join(root, 'absolute'));
  await symlink('../../..', join(root, 'a/b/up'));
  await symlink('loop', join(root, 'loop'));
  await symlink('gone', join(root, 'dangling'));
  const touched: string[] = [];
  const touch: Touch = (path, call) => {
    touched.push(path);
    return touchDirectly(path, call);
  };
  for (const path of ['a', 'relative/c', 'absolute', 'absolute/../up', 'a/./b/../b', '']) {
    assert.equal(await realPath(`${root}/${path}`, touch), await realpath(`${root}/${path}`));
  }
  for (const path of touched) assert.equal(await realpath(join(path, '..')), join(path, '..'));
  await assert.rejects(realPath(join(root, 'loop'), touchDirectly), { code: 'ELOOP' });
  await assert.rejects(realPath(join(root, 'dangling'), touchDirectly), { code: 'ENOENT' });
});

test('looked up in a root of its own, neither links nor dots lead out of it', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'rxlet-root-')));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'etc/app'), { recursive: true });
  await symlink('/etc', join(root, 'absolute'));
  await symlink('../../../../etc', join(root, 'etc/app/up'));
  for (const [path, real, missing] of [
    ['/etc/app', 'etc/app', []],
    ['absolute/app', 'etc/app', []],
    ['etc/app/up/app', 'etc/app', []],
    ['../../etc/passwd', 'etc', ['passwd']],
    ['..', '', []],
  ] as const) {
    const found = await presentPart(path, touchDirectly, root);
    assert.deepEqual([found.real, found.missing], [join(root, real), missing]);
  }
});
