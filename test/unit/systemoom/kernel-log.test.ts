import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type KernelLog, openKernelLog } from '../../../src/systemoom/kernel-log.ts';

test('what stands in its place is not read, and not waited for', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'rxlet-kmsg-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [pipe, file] = [join(directory, 'pipe'), join(directory, 'file')];
  execFileSync('mkfifo', [pipe]);
  writeFileSync(file, '4,1,2,-;Out of memory: Killed process 5 (a)\n');
  for (const path of [pipe, file, directory, '/dev/null', '/dev/zero'])
    assert.throws(() => openKernelLog(path), { message: `${path} is not the kernel's log` });
  assert.throws(() => openKernelLog(join(directory, 'none')), { code: 'ENOENT' });
});

test('this machine’s own, where it may be read, has an end that is not waited at', () => {
  let log: KernelLog;
  try {
    log = openKernelLog();
  } catch (error) {
    assert.match(String(error), /EPERM|EACCES|ENOENT|is not the kernel's log/);
    return;
  }
  let record = log.next();
  for (let read = 0; record !== undefined && read < 1_000_000; read++) {
    assert.match(record, /^$|^\d+,\d+,\d+,[^;]*;/);
    record = log.next();
  }
  assert.equal(record, undefined);
  log.close();
  assert.throws(() => log.next(), { code: 'EBADF' });
});
