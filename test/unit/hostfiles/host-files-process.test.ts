import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { HostFilesProcess } from '../../../src/hostfiles/host-files-process.ts';
import { findFile } from '../../../src/server/find-file.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const program = join(import.meta.dirname, '../../../src/host-files-main.ts');
const never = new AbortController().signal;

function aProcess(t: TestContext) {
  const clock = new FakeClock();
  const stop = new AbortController();
  t.after(() => stop.abort(new Error('the test is over')));
  const before = new Set(children());
  const hostFiles = new HostFilesProcess({ clock, log: silentLogger, program, table: () => [], stop: stop.signal });
  /** The process that was started since. */
  const pid = (): number => children().find((each) => !before.has(each)) ?? assert.fail('no process was started');
  return { clock, stop, hostFiles, pid };
}

const children = (): number[] => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number);
const find = (hostFiles: HostFilesProcess, path: string, signal = never): Promise<void> => hostFiles.run(findFile, { path }, signal);

test('a task is done in another process, and its error comes back with its code', async (t) => {
  const { hostFiles } = aProcess(t);
  await find(hostFiles, '/proc/self');
  await assert.rejects(find(hostFiles, '/no/such/file'), { code: 'ENOENT', message: /\/no/ });
});

test('a process that ends is told to those who wait, and the next task has another', async (t) => {
  const { hostFiles, pid } = aProcess(t);
  await find(hostFiles, '/');
  process.kill(pid(), 'SIGSTOP');
  const waiting = assert.rejects(find(hostFiles, '/'), /the process that looks at files of pods ended \(SIGKILL\)/);
  process.kill(pid(), 'SIGKILL');
  await waiting;
  await find(hostFiles, '/');
});

test('a process that says nothing for 30 s while it has a task is ended, and the next task has another', async (t) => {
  const { clock, hostFiles, pid } = aProcess(t);
  await find(hostFiles, '/');
  process.kill(pid(), 'SIGSTOP');
  const waiting = assert.rejects(find(hostFiles, '/'), /has said nothing for 30 s/);
  await clock.advance(30_000);
  await waiting;
  await find(hostFiles, '/');
});

test('an abort and the end of the agent reject at once, whatever the process does', async (t) => {
  const { stop, hostFiles, pid } = aProcess(t);
  await find(hostFiles, '/');
  process.kill(pid(), 'SIGSTOP');
  const asker = new AbortController();
  const aborted = assert.rejects(find(hostFiles, '/', asker.signal), /^Error: enough$/);
  asker.abort(new Error('enough'));
  await aborted;
  const stopped = assert.rejects(find(hostFiles, '/'), /^Error: the agent stops$/);
  stop.abort(new Error('the agent stops'));
  await stopped;
  await assert.rejects(find(hostFiles, '/'), /^Error: the agent stops$/);
});

test('a process without a task for 30 s ends', async (t) => {
  const { clock, hostFiles, pid } = aProcess(t);
  await find(hostFiles, '/');
  const first = pid();
  await clock.advance(30_000);
  await find(hostFiles, '/');
  assert.notEqual(pid(), first);
});
