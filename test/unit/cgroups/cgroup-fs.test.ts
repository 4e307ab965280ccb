import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCgroupFs } from '../../../src/cgroups/cgroup-fs.ts';

async function aHierarchy(root: string, name: string): Promise<void> {
  await mkdir(join(root, name));
  await writeFile(join(root, name, 'cgroup.procs'), '');
}

test('beside version 1, what engines made of version 2 is found and removed with the rest, and not needed', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-cgroups-'));
  t.after(() => rm(root, { recursive: true }));
  const make = (...paths: readonly string[]): Promise<unknown> =>
    Promise.all(paths.map((path) => mkdir(join(root, path), { recursive: true })));
  await make('unified');
  for (const name of ['cpu', 'memory']) await aHierarchy(root, name);
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
  await aHierarchy(root, 'cpu');
  for (const path of ['cpu,cpuacct', 'hugetlb/system.slice']) await mkdir(join(root, path), { recursive: true });
  const fs = await openCgroupFs(root, 1);
  await fs.make('/kubepods');
  const found = await Promise.all(['cpu,cpuacct', 'hugetlb', 'cpu/kubepods'].map((path) => readdir(join(root, path))));
  assert.deepEqual(found, [[], ['system.slice'], []]);
});
