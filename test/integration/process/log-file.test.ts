import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogFile } from '../../../src/base/log-file.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { anAgent } from './an-agent.ts';
import { freshDirectory } from './fresh-directory.ts';

test('a full disk loses lines, and the first line after it is one of its own', async (t) => {
  const [clock, faults] = [new FakeClock(), [] as string[]];
  const disk = mkdtempSync(join(tmpdir(), 'rxlet-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk]);
  t.after(() => {
    execFileSync('umount', ['--lazy', disk]);
    rmdirSync(disk);
  });
  const path = join(disk, 'log');
  const file = new LogFile({ clock, path, maxBytes: Number.POSITIVE_INFINITY, onFault: (message) => faults.push(message) });
  writeFileSync(join(disk, 'other'), 'x'.repeat(4096));
  const line = `${'a'.repeat(999)}\n`;
  const taken = Array.from({ length: 30 }, () => file.write(line)).filter(Boolean).length;
  assert.ok(taken >= 8 && taken < 16, `${taken}`);
  assert.match(faults[0] ?? '', /ENOSPC/);
  rmSync(join(disk, 'other'));
  await clock.advance(60_000);
  assert.equal(file.write('again\n'), true);
  assert.match(readFileSync(path, 'utf8'), /\nagain\n$/);
  assert.match(faults[1] ?? '', new RegExp(`${30 - taken} lines are lost$`));
});

test(
  'an agent whose log goes to a file says nothing on its standard error, and nobody else reads the file',
  { timeout: 60_000 },
  async (t) => {
    const dir = await freshDirectory(t);
    const path = join(dir, 'log');
    const agent = await anAgent(t, { dir, flags: ['--runonce', '--logtostderr=false', `--log-file=${path}`] });
    assert.equal(await agent.exited, 0);
    assert.deepEqual(agent.lines, []);
    assert.match(readFileSync(path, 'utf8'), / starting /);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  },
);
