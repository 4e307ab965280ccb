import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import promises from 'node:fs/promises';
import { mkdir, mkdtemp, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { holdDirectory } from '../../../src/base/held-directory.ts';
import { type TreeVisitor, type WalkLimits, walkTree } from '../../../src/base/walk-tree.ts';
import { longestName, makeDeep, makeWide } from '../../builders/a-big-tree.ts';
import { runInSmallProcess } from '../../builders/small-process.ts';
import { slope } from '../../builders/process-footprint.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

let root: string;
let tree: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-walk-'));
  tree = join(root, 'tree');
  await mkdir(tree);
});
afterEach(() => promisify(execFile)('rm', ['-rf', root]));

/** The numbers of what is visited. */
async function visited(
  limits: WalkLimits = {},
  over: Partial<TreeVisitor> = {},
): Promise<{ readonly inos: number[]; readonly fault: unknown }> {
  const inos: number[] = [];
  const top = await holdDirectory(tree);
  try {
    const visitor: TreeVisitor = {
      file: (path) => void inos.push(lstatSync(path, { throwIfNoEntry: false })?.ino ?? 0),
      directory: (_, { ino }) => void inos.push(ino),
      ...over,
    };
    return { fault: await walkTree(top, visitor, undefined, limits), inos };
  } finally {
    await top.close();
  }
}

test('a tree deeper than a path can say, of names that are no UTF-8, is visited with few descriptors and little memory', async () => {
  makeDeep(tree, 1_500, longestName());
  makeDeep(tree, 1_500);
  makeWide(tree, 2_000, longestName);
  const module = `import { holdDirectory } from '${join(import.meta.dirname, '../../../src/base/held-directory.ts')}';
    import { walkTree } from '${join(import.meta.dirname, '../../../src/base/walk-tree.ts')}';
    let [files, directories] = [0, 0];
    const top = await holdDirectory(${JSON.stringify(tree)});
    const fault = await walkTree(top, { file: () => void files++, directory: () => void directories++ });
    await top.close();
    console.log(JSON.stringify({ files, directories, fault }));`;
  const said: unknown = JSON.parse(await runInSmallProcess(module, { heapMiB: 32, descriptors: 32 }));
  assert.deepEqual(said, { files: 2_002, directories: 3_000 });
});

test('each is visited once, however few names may wait', async () => {
  for (let a = 0; a < 30; a++) {
    for (let b = 0; b < 5; b++) await mkdir(join(tree, `${a}/${b}/deep`), { recursive: true });
    await writeFile(join(tree, `${a}/file`), '');
  }
  for (const namesBytes of [0, 200, 1_000, 2 ** 24]) {
    const { inos, fault } = await visited({ namesBytes });
    assert.deepEqual([inos.length, new Set(inos).size, fault], [30 * (1 + 5 + 5 + 1), 30 * (1 + 5 + 5 + 1), undefined], `${namesBytes}`);
  }
});

test('more directories in one another than the limit says are refused', async () => {
  makeDeep(tree, 11);
  assert.equal((await visited({ depth: 11 })).inos.length, 12);
  await assert.rejects(visited({ depth: 10 }), { message: 'more than 10 directories are in one another' });
});

test('what is moved elsewhere while it is visited leads nowhere else; what is left out for it is said', async () => {
  for (const [below, isLeftOut] of [
    ['c', false],
    ['c/1/2/3/4/5/6/7/8/9/10', true],
  ] as const) {
    await mkdir(join(tree, 'a/b', below), { recursive: true });
    await mkdir(join(tree, 'z'), { recursive: true });
    await mkdir(join(root, 'outside/other'), { recursive: true });
    const outside = new Set(['outside', 'outside/other'].map((path) => lstatSync(join(root, path)).ino));
    const [moved, last] = [join(tree, 'a/b/c'), lstatSync(join(tree, 'a/b', below)).ino];
    const inos: number[] = [];
    const directory: TreeVisitor['directory'] = async (_, { ino }) => {
      inos.push(ino);
      if (ino === last) await rename(moved, join(root, 'outside/c'));
    };
    const { fault } = await visited({}, { directory });
    assert.equal(fault !== undefined, isLeftOut);
    if (isLeftOut) assert.equal(String(fault), 'Error: a directory was moved to another place while it was visited');
    assert.ok(inos.includes(lstatSync(join(tree, 'z')).ino) && !inos.some((ino) => outside.has(ino)));
    assert.equal(new Set(inos).size, inos.length);
    await rename(join(root, 'outside/c'), join(root, `was-${isLeftOut}`));
  }
});

test('a container that exchanges directories for links meanwhile leads the walk nowhere else', async () => {
  await mkdir(join(root, 'outside/below'), { recursive: true });
  await writeFile(join(root, 'outside/below/precious'), '');
  const outside = new Set(['outside', 'outside/below', 'outside/below/precious'].map((path) => lstatSync(join(root, path)).ino));
  await mkdir(join(tree, 'a/below'), { recursive: true });
  const stop = new AbortController();
  let swaps = 0;
  const attack = async (): Promise<void> => {
    for (; !stop.signal.aborted; swaps++) {
      await rename(join(tree, 'a'), join(tree, 'was'));
      await symlink(join(root, 'outside'), join(tree, 'a'));
      await unlink(join(tree, 'a'));
      await rename(join(tree, 'was'), join(tree, 'a'));
    }
  };
  const attacking = attack();
  for (let i = 0; i < 300; i++) for (const ino of (await visited()).inos) assert.ok(!outside.has(ino));
  stop.abort();
  await attacking;
  assert.ok(swaps > 100, `${swaps}`);
});

test('nothing stays open, however a walk ends', async () => {
  makeDeep(tree, 30);
  makeDeep(tree, 20, longestName());
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  await visited();
  await visited({ namesBytes: 0 });
  for (let end = 1; end < 50; end += 7) {
    let seen = 0;
    const directory = (): void => {
      if (++seen === end) throw new Error('enough');
    };
    await assert.rejects(visited({}, { directory }), { message: 'enough' });
  }
  assert.equal(open(), before);
});

test('a walk ends with its signal, and with what its visitor throws', async () => {
  makeWide(tree, 10);
  const top = await holdDirectory(tree);
  const visitor = { file: () => {}, directory: () => {} };
  await assert.rejects(walkTree(top, visitor, AbortSignal.abort(new Error('enough'))), { message: 'enough' });
  await top.close();
  const fails = () => {
    throw Object.assign(new Error('disk is full'), { code: 'ENOSPC' });
  };
  await assert.rejects(visited({}, { file: fails }), { message: 'disk is full' });
});

test('where there is no room for names, a directory of thousands is read again some times, and not for each of them', async (t) => {
  const directories = 3_000;
  for (let n = 0; n < directories; n++) mkdirSync(join(tree, `${n}`));
  const opened = t.mock.method(promises, 'opendir');
  syncBuiltinESMExports();
  t.after(() => {
    opened.mock.restore();
    syncBuiltinESMExports();
  });
  const { inos, fault } = await visited({ namesBytes: 128 });
  assert.deepEqual([new Set(inos).size, fault], [directories, undefined]);
  // Each of them is read once.
  const readAgain = opened.mock.callCount() - directories;
  assert.ok(readAgain > 0 && readAgain < 100, `read ${readAgain} times`);
});

const EACH = 250;
test('of very many directories in one another little is kept of each', async () => {
  const levels = 4_000;
  makeDeep(tree, levels);
  const looks: number[] = [];
  let count = 0;
  const directory = (): void => {
    if (++count % EACH !== 0) return;
    collectGarbage();
    looks.push(process.memoryUsage().heapUsed);
  };
  assert.equal((await visited({}, { directory })).fault, undefined);
  // What V8 compiles meanwhile, and lets go, is not the tree's: of many steps the one in the middle.
  const bytes = slope(looks) / EACH;
  // As many as are not refused, 250,000, then take less than 40 MiB.
  assert.ok(bytes < 150, `${bytes} bytes for each`);
});
