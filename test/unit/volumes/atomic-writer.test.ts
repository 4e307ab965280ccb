import assert from 'node:assert/strict';
import { lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { writeAtomically } from '../../../src/volumes/atomic-writer.ts';
import type { PayloadFile } from '../../../src/volumes/payload.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-volume-'));
});
afterEach(() => rm(directory, { recursive: true }));

const nowMs = Date.UTC(2026, 10, 21, 14, 5, 25);
const file = (path: string, text = path, mode = 0o644): PayloadFile => ({ path, data: Buffer.from(text), mode });
const write = (...files: readonly PayloadFile[]): Promise<boolean> => writeAtomically(directory, files, { nowMs });
const names = async (): Promise<readonly string[]> => (await readdir(directory)).filter((name) => !name.startsWith('..')).sort();
const states = async (): Promise<readonly string[]> => (await readdir(directory)).filter((name) => /^\.\.\d/.test(name));
const read = (path: string): Promise<string> => readFile(join(directory, path), 'utf8');
const modeOf = async (path: string): Promise<number> => (await lstat(join(directory, '..data', path))).mode & 0o7777;

test('files are seen through a link that is moved in one step', async () => {
  assert.equal(await write(file('a'), file('sub/b/c', 'deep', 0o400)), true);
  assert.deepEqual(await names(), ['a', 'sub']);
  assert.equal(await readlink(join(directory, 'a')), '..data/a');
  assert.match(await readlink(join(directory, '..data')), /^\.\.2026_11_21_14_05_25\./);
  assert.deepEqual([await read('a'), await read('sub/b/c')], ['a', 'deep']);
  assert.deepEqual([await modeOf('a'), await modeOf('sub/b'), await modeOf('sub/b/c')], [0o644, 0o755, 0o400]);
});

test('an equal state is left alone; another replaces it whole and leaves nothing of it', async () => {
  await write(file('a'), file('b'));
  const [before] = await states();
  assert.equal(await write(file('a'), file('b')), false);
  assert.deepEqual(await states(), [before]);
  assert.equal(await write(file('a', 'new'), file('c')), true);
  assert.deepEqual(await names(), ['a', 'c']);
  assert.equal(await read('a'), 'new');
  assert.equal((await states()).length, 1);
  assert.notDeepEqual(await states(), [before]);
  assert.equal(await write(file('a', 'new', 0o600), file('c')), true);
  assert.equal(await modeOf('a'), 0o600);
  assert.equal(await write(), true);
  assert.deepEqual(await names(), []);
});

test('what lies in the volume and is not of the payload goes', async () => {
  await write(file('a'));
  await rm(join(directory, 'a'));
  assert.equal(await write(file('a')), false);
  assert.equal(await read('a'), 'a');
});

test('a reader never sees a mixture of two states', async () => {
  const pair = (n: number): readonly PayloadFile[] => [file('a', `${n}`), file('b', `${n}`)];
  await write(...pair(0));
  const done = new AbortController();
  const torn: string[] = [];
  const reader = (async () => {
    while (!done.signal.aborted) {
      const state = join(directory, await readlink(join(directory, '..data')));
      const both = await Promise.all(['a', 'b'].map((name) => readFile(join(state, name), 'utf8'))).catch((): readonly string[] => []);
      if (both[0] !== both[1] || both.includes('')) torn.push(both.join('/'));
    }
  })();
  for (let n = 1; n <= 100; n++) await write(...pair(n));
  done.abort();
  await reader;
  assert.deepEqual(torn, []);
  assert.equal(await read('b'), '100');
});

// Only root may give files away.
const isRoot = process.getuid?.() === 0;
const self = process.getuid?.() ?? 0;
const user = isRoot ? 1000 : self;
const fsGroup = isRoot ? 2000 : (process.getgid?.() ?? 0);

test('the group of the pod owns the files and the links, and may read them', async () => {
  await writeAtomically(directory, [file('d/a', 'x', 0o400), { ...file('b', 'x', 0o600), uid: user }], { nowMs, fsGroup });
  const owners = async (path: string): Promise<readonly number[]> => {
    const { uid, gid } = await lstat(join(directory, '..data', path));
    return [uid, gid, await modeOf(path)];
  };
  assert.deepEqual(await owners('d'), [self, fsGroup, 0o2755]);
  assert.deepEqual(await owners('d/a'), [self, fsGroup, 0o440]);
  assert.deepEqual(await owners('b'), [user, fsGroup, 0o640]);
  for (const link of ['..data', 'd', 'b']) assert.equal((await lstat(join(directory, link))).gid, fsGroup);
  const again = await writeAtomically(directory, [file('d/a', 'x', 0o400), { ...file('b', 'x', 0o600), uid: user }], {
    nowMs,
    fsGroup: 2000,
  });
  assert.equal(again, false);
});

test('no path leads out of the volume', async () => {
  for (const [path, message] of [
    ['', 'invalid path: must not be empty'],
    ['/etc/passwd', 'invalid path: must be relative path: /etc/passwd'],
    ['a/../../b', "invalid path: must not contain '..': a/../../b"],
    ['..data', "invalid path: must not start with '..': ..data"],
    ['a//b', 'invalid path: must name a file: a//b'],
    ['.', 'invalid path: must name a file: .'],
  ] as const) {
    await assert.rejects(write(file('good'), file(path)), { message });
  }
  assert.deepEqual(await readdir(directory), []);
});
