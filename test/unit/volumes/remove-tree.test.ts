import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { removeTree } from '../../../src/volumes/remove-tree.ts';
import { longestName, makeDeep, makeWide } from '../../builders/a-big-tree.ts';
import { runInSmallProcess } from '../../builders/small-process.ts';

let root: string;
let tree: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-tree-'));
  tree = join(root, 'tree');
  await mkdir(join(tree, 'volume'), { recursive: true });
});
afterEach(() => promisify(execFile)('rm', ['-rf', root]));

test('a tree deeper than a path can say, of names that are no UTF-8, is removed with few descriptors and little memory', async () => {
  makeDeep(join(tree, 'volume'), 1_500, longestName());
  makeDeep(join(tree, 'volume'), 1_500);
  makeWide(join(tree, 'volume'), 2_000, longestName);
  const module = `import { removeTree } from '${join(import.meta.dirname, '../../../src/volumes/remove-tree.ts')}';
    await removeTree(${JSON.stringify(tree)});`;
  await runInSmallProcess(module, { heapMiB: 32, descriptors: 32 });
  assert.deepEqual(await readdir(root), []);
});

test('what an abort or a crash has left is removed by the next call', async () => {
  makeDeep(join(tree, 'volume'), 300);
  makeWide(join(tree, 'volume'), 300);
  const stop = new AbortController();
  const removing = removeTree(tree, stop.signal);
  while ((await readdir(tree).catch(() => [])).every((name) => name === 'volume'));
  stop.abort(new Error('stopped'));
  await assert.rejects(removing, { message: 'stopped' });
  // Every kind of thing that may be at a name that the next call would take.
  for (const [n, make] of [
    [30, (path: string) => mkdir(path)],
    [31, (path: string) => writeFile(path, '')],
    [32, (path: string) => mkdir(join(path, 'below'), { recursive: true })],
  ] as const) {
    const path = join(tree, `..removing-${n}`);
    await promisify(execFile)('rm', ['-rf', path]);
    await make(path);
  }
  await removeTree(tree);
  assert.deepEqual(await readdir(root), []);
});

test('a container that exchanges directories for links meanwhile leads it nowhere else', async () => {
  const outside = join(root, 'outside');
  await mkdir(join(outside, 'b'), { recursive: true });
  await writeFile(join(outside, 'b/precious'), 'x');
  const stop = new AbortController();
  const at = (name: string): string => join(tree, 'volume', name);
  let swaps = 0;
  const attack = async (): Promise<void> => {
    for (; !stop.signal.aborted; swaps++) {
      const calls = [
        () => mkdir(at('a/b/c'), { recursive: true }),
        () => rename(at('a'), at('was')),
        () => symlink(outside, at('a')),
        () => unlink(at('a')),
        () => rename(at('was'), at('a')),
        () => symlink(outside, at('a/b/link')),
        () => rmdir(at('a/b/c')),
      ];
      for (const call of calls) await call().catch(() => {});
    }
  };
  const attacking = attack();
  try {
    for (let i = 0; i < 200; i++)
      await removeTree(tree).catch((error: unknown) => assert.match(String(error), /cannot be emptied|ENOTEMPTY/));
  } finally {
    stop.abort();
    await attacking;
  }
  await removeTree(tree);
  assert.ok(swaps > 100, `${swaps}`);
  assert.deepEqual([await readdir(root), await readdir(join(outside, 'b'))], [['outside'], ['precious']]);
});
