import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { takeFileLock, type FileLock } from '../../../src/base/file-lock.ts';

const run = promisify(execFile);

async function setUp(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'rxlet-lock-'));
  t.after(() => rm(dir, { recursive: true }));
  const stop = new AbortController();
  const waits: (string | undefined)[] = [];
  const waited = Promise.withResolvers<void>();
  const onWait = (holder: string | undefined): void => {
    waits.push(holder);
    waited.resolve();
  };
  const take = (path: string): Promise<FileLock> => takeFileLock(path, { onWait, signal: stop.signal });
  const isFree = (path: string): Promise<boolean> =>
    run('flock', ['--nonblock', path, 'true']).then(
      () => true,
      () => false,
    );
  /** Another process that has the lock until it is killed. */
  const held = async (path: string) => {
    const child = spawn('flock', ['--no-fork', path, 'sh', '-c', 'echo held; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  };
  return { dir, path: join(dir, 'lock'), stop, waits, waited: waited.promise, take, isFree, held };
}

test('the lock is had until it is released, of a file for its owner alone', async (t) => {
  const { path, take, isFree, waits } = await setUp(t);
  const lock = await take(path);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal(await isFree(path), false);
  await lock.release();
  assert.equal(await isFree(path), true);
  assert.deepEqual(waits, []);
});

test('what another process has is waited for, and that is named; it is free once that is killed', async (t) => {
  const { path, take, isFree, held, waits, waited } = await setUp(t);
  const other = await held(path);
  const taking = take(path);
  await waited;
  assert.deepEqual(waits, [`cat, process ${other.pid}`]);
  other.kill('SIGKILL');
  const lock = await taking;
  assert.equal(await isFree(path), false);
  await lock.release();
});

test('an abort ends the wait, and nothing waits on', async (t) => {
  const { path, stop, take, isFree, held, waited } = await setUp(t);
  const other = await held(path);
  const taking = take(path);
  await waited;
  stop.abort(new Error('enough'));
  await assert.rejects(taking, /enough/);
  other.kill('SIGKILL');
  await once(other, 'exit');
  assert.equal(await isFree(path), true);
});

test('a file that is removed while it is waited for locks nothing: the one that has its path then counts', async (t) => {
  const { path, take, isFree, held, waited } = await setUp(t);
  const other = await held(path);
  const taking = take(path);
  await waited;
  await rm(path);
  other.kill('SIGKILL');
  const lock = await taking;
  assert.equal(await isFree(path), false);
  await lock.release();
});

test('a link is followed, and what is no regular file, or cannot be made, is refused', async (t) => {
  const { dir, path, take, isFree } = await setUp(t);
  await writeFile(join(dir, 'file'), 'kept');
  await symlink('file', path);
  const lock = await take(path);
  assert.equal(await isFree(join(dir, 'file')), false);
  await lock.release();
  await assert.rejects(take(dir), /EISDIR/);
  await assert.rejects(take(join(dir, 'no/lock')), /ENOENT/);
  await run('mkfifo', [join(dir, 'fifo')]);
  await assert.rejects(take(join(dir, 'fifo')), /it is not a regular file/);
});
