import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { longestName, makeDeep, makeWide } from '../builders/a-big-tree.ts';
import { runInSmallProcess } from '../builders/small-process.ts';

/** Ten times what a container was seen to make. */
const DEPTH = 60_000;
const WIDTH = 300_000;
const small = { heapMiB: 256, descriptors: 48 };

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-trees-'));
});
afterEach(() => promisify(execFile)('rm', ['-rf', root]));

const source = (path: string): string => JSON.stringify(join(import.meta.dirname, '../../src', path));

test('60,000 directories in one another and 300,000 files are given to a group, counted and removed with little memory and few descriptors, and others have their turn meanwhile', async (t) => {
  const tree = join(root, 'tree');
  const volume = join(tree, 'volume');
  await mkdir(volume, { recursive: true });
  /** Does so in a process of its own, and resolves with what came of it. */
  const inSmall = async (call: string, signal?: AbortSignal): Promise<unknown> => {
    const module = `
      import { directoryUsage } from ${source('stats/directory-usage.ts')};
      import { removeTree } from ${source('volumes/remove-tree.ts')};
      import { setVolumeOwnership } from ${source('volumes/volume-ownership.ts')};
      const never = new AbortController().signal;
      let turns = 0;
      setInterval(() => turns++, 1).unref();
      const startedAtMs = performance.now();
      const came = await ${call};
      const rssMiB = process.resourceUsage().maxRSS / 1024;
      console.log(JSON.stringify({ came, turns, rssMiB, tookMs: performance.now() - startedAtMs }));`;
    const said = await runInSmallProcess(module, small, signal);
    t.diagnostic(`${call.split('(')[0]}: ${said.trim()}`);
    const { came, turns } = JSON.parse(said) as { came: unknown; turns: number };
    assert.ok(turns > 100, `${turns}`);
    return came;
  };
  makeDeep(volume, DEPTH, longestName());
  await inSmall(`setVolumeOwnership(${JSON.stringify(volume)}, { fsGroup: 4321, readOnly: false })`);
  makeWide(volume, WIDTH, longestName);
  const { bytes, inodes } = (await inSmall(`directoryUsage(${JSON.stringify(tree)}, never)`)) as { bytes: number; inodes: number };
  const { stdout } = await promisify(execFile)('du', ['-s', '-B1', '-x', tree]);
  assert.deepEqual([bytes, inodes], [Number(stdout.split('\t')[0]), 1 + 1 + DEPTH + 1 + WIDTH]);
  // The innermost file was the group's last but for the volume itself: what is made later inherits it.
  const { stdout: groups } = await promisify(execFile)('sh', ['-c', 'find "$1" -printf "%G\\n" | sort | uniq -c', 'sh', volume]);
  assert.deepEqual(groups.trim().split(/\s+/), [`${1 + DEPTH + 1 + WIDTH}`, '4321']);
  const killed = new AbortController();
  const first = inSmall(`removeTree(${JSON.stringify(tree)})`, killed.signal);
  while ((await readdir(tree)).length === 1);
  killed.abort();
  await assert.rejects(first, { name: 'AbortError' });
  await inSmall(`removeTree(${JSON.stringify(tree)})`);
  assert.deepEqual(await readdir(root), []);
});
