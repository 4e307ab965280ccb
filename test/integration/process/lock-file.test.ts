import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { anAgent } from './an-agent.ts';
import { freshDirectory } from './fresh-directory.ts';

const run = promisify(execFile);

describe('the lock file', { timeout: 120_000 }, () => {
  test('a second agent names the first, waits, and goes on when that is killed', async (t) => {
    const lock = join(await freshDirectory(t), 'lock');
    const first = await anAgent(t, { flags: [`--lock-file=${lock}`] });
    await first.says('starting');
    const second = await anAgent(t, { flags: [`--lock-file=${lock}`] });
    assert.match(await second.says('the lock file is locked by another process'), new RegExp(`, process ${first.child.pid}"`));
    first.child.kill('SIGKILL');
    await second.says('lock file locked');
    second.child.kill('SIGTERM');
    assert.equal(await second.exited, 0);
  });

  test('with --exit-on-lock-contention the first leaves it to the second, well', async (t) => {
    const lock = join(await freshDirectory(t), 'lock');
    const flags = [`--lock-file=${lock}`, '--exit-on-lock-contention'];
    const first = await anAgent(t, { flags });
    await first.says('starting');
    const second = await anAgent(t, { flags });
    assert.equal(await first.exited, 0);
    await first.says('the lock file was opened or removed by another process');
    await second.says('starting');
  });

  test('a directory that is not there, or a disk that is read only, ends the start with the path', async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'rxlet-process-'));
    await run('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', dir]);
    t.after(async () => {
      await run('umount', ['--lazy', dir]);
      await rmdir(dir);
    });
    for (const [path, why] of [
      [join(dir, 'lock'), 'EROFS'],
      ['/nowhere/lock', 'ENOENT'],
    ]) {
      const agent = await anAgent(t, { flags: [`--lock-file=${path}`] });
      assert.match(await agent.says('rxlet:'), new RegExp(`flag --lock-file: unable to acquire file lock on .*${why}`));
      assert.equal(await agent.exited, 2);
    }
  });
});
