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

test('a volume of 60,000 directories in one another and 300,000 files is removed with little memory and few descriptors, also by one agent after the other, and others have their turn meanwhile', async (t) => {
  const tree = join(root, 'tree');
  const volume = join(tree, 'volume');
  await mkdir(volume, { recursive: true });
  makeDeep(volume, DEPTH, longestName());
  makeWide(volume, WIDTH, longestName);
  const module = `
    import { monitorEventLoopDelay } from 'node:perf_hooks';
    import { removeTree } from '${join(import.meta.dirname, '../../src/volumes/remove-tree.ts')}';
    let turns = 0;
    setInterval(() => turns++, 1).unref();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const startedAtMs = performance.now();
    await removeTree(${JSON.stringify(tree)});
    const { maxRSS } = process.resourceUsage();
    console.log(JSON.stringify({ turns, tookMs: performance.now() - startedAtMs, longestMs: delay.max / 1e6, maxRssMiB: maxRSS / 1024 }));`;
  const killed = new AbortController();
  const first = runInSmallProcess(module, small, killed.signal);
  while ((await readdir(tree)).length === 1);
  killed.abort();
  await assert.rejects(first, { name: 'AbortError' });
  const said = await runInSmallProcess(module, small);
  t.diagnostic(said.trim());
  assert.ok((JSON.parse(said) as { turns: number }).turns > 100);
  assert.deepEqual(await readdir(root), []);
});
