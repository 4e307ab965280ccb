import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rewriteSandboxResolvConf } from '../../../../../src/engines/docker/sandbox/sandbox-resolv-conf.ts';

const dns = { servers: ['10.96.0.10'], searches: ['a', 'b'], options: ['ndots:5'] };

test('a sandbox’s resolv.conf is written over and stays the same file, which containers have mounted', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'resolv-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'resolv.conf');
  await writeFile(path, 'nameserver 127.0.0.11\n# what the engine wrote is longer than what replaces it, by far and on purpose\n');
  const { ino } = await stat(path);
  await rewriteSandboxResolvConf(path, dns);
  assert.equal(await readFile(path, 'utf8'), 'nameserver 10.96.0.10\nsearch a b\noptions ndots:5\n');
  assert.equal((await stat(path)).ino, ino);
  await rewriteSandboxResolvConf(path, { servers: [], searches: [], options: [] });
  assert.equal(await readFile(path, 'utf8'), 'nameserver 10.96.0.10\nsearch a b\noptions ndots:5\n');
});

test('a file that is not there is not made', async () => {
  await assert.rejects(rewriteSandboxResolvConf('/nonexistent/resolv.conf', dns), {
    message: 'ResolvConfPath "/nonexistent/resolv.conf" does not exist',
  });
});
