import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCgroupFs } from '../../../src/cgroups/cgroup-fs.ts';

test('beside version 1, what engines made of version 2 is found and removed with the rest, and not needed', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-cgroups-'));
  t.after(() => rm(root, { recursive: true }));
  const make = (...paths: readonly string[]): Promise<unknown> =>
    Promise.all(paths.map((path) => mkdir(join(root, path), { recursive: true })));
  await make('cpu/system.slice', 'memory/system.slice', 'unified');
  const fs = await openCgroupFs(root, 1);
  await fs.make('/kubepods/one');
  await fs.make('/kubepods/two');
  assert.deepEqual(await readdir(join(root, 'unified')), [], 'none is made there');
  await make('unified/kubepods/one/container', 'unified/kubepods/lost');
  assert.deepEqual((await fs.children('/kubepods')).toSorted(), ['lost', 'one', 'two']);
  for (const name of ['one', 'two', 'lost']) await fs.remove(`/kubepods/${name}`);
  for (const hierarchy of ['cpu', 'memory', 'unified']) assert.deepEqual(await readdir(join(root, hierarchy, 'kubepods')), []);
});

test('a directory where nothing is mounted is no hierarchy of version 1', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-cgroups-'));
  t.after(() => rm(root, { recursive: true }));
  for (const path of ['cpu/system.slice', 'cpu,cpuacct']) await mkdir(join(root, path), { recursive: true });
  const fs = await openCgroupFs(root, 1);
  await fs.make('/kubepods');
  assert.deepEqual([await readdir(join(root, 'cpu,cpuacct')), await readdir(join(root, 'cpu/kubepods'))], [[], []]);
});
