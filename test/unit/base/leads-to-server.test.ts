import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { leadsToServer } from '../../../src/base/leads-to-server.ts';
import { parseMountInfo } from '../../../src/base/mount-info.ts';

test('a path leads to a server when it or a link on it does; what a server has is not looked at', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'rxlet-server-')));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'own/sub'), { recursive: true });
  await symlink('../nfs/x', join(root, 'own/link'));
  await symlink(join(root, 'own/link'), join(root, 'own/sub/far'));
  await symlink('loop', join(root, 'loop'));
  const kinds = { '': 'ext4', '/nfs': 'nfs4', '/fuse': 'fuse.sshfs', '/memory': 'tmpfs', '/disk': 'xfs' };
  const lines = Object.entries(kinds).map(([at, kind], i) => `${i} 0 0:${i} / ${root}${at} rw - ${kind} s rw`);
  const table = parseMountInfo(['9 0 8:1 / / rw - ext4 /dev/vda rw', ...lines].join('\n'));
  for (const path of ['nfs', 'nfs/a', 'fuse/b', 'own/link', 'own/link/y', 'own/sub/far', 'own/../nfs']) {
    assert.equal(leadsToServer(`${root}/${path}`, table), true, path);
  }
  for (const path of ['', 'own', 'own/sub', 'own/gone/x', 'memory/a', 'disk/b', 'nfs2', 'loop']) {
    assert.equal(leadsToServer(`${root}/${path}`, table), false, path);
  }
});

test('a path with too many parts, or with links that lead on and on, is left to who may take long', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'rxlet-server-')));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'd'));
  await symlink(`${'d/../'.repeat(800)}d`, join(root, 'around'));
  let looks = 0;
  const table = new Proxy(parseMountInfo('9 0 8:1 / / rw - ext4 /dev/vda rw'), {
    get: (target, name, receiver): unknown => {
      if (name === 'filter') looks++;
      return Reflect.get(target, name, receiver);
    },
  });
  for (const path of [`${root}${'/d/..'.repeat(100_000)}`, `${root}${'/around/..'.repeat(40)}`, `${root}${'/none'.repeat(200_000)}`]) {
    looks = 0;
    assert.equal(leadsToServer(path, table), true);
    assert.ok(looks <= 1_000, `${looks} looks at the table of mounts`);
  }
});
