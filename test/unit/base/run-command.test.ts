import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../../src/base/run-command.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;

test('how a program ended is told with what it printed', async () => {
  const limits = { clock: new FakeClock(), deadlineMs: 1000, signal: never };
  assert.deepEqual(await runCommand('sh', ['-c', 'echo out; echo err >&2; exit 3'], limits), {
    is: 'exited',
    code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  assert.deepEqual(await runCommand('sh', ['-c', 'kill -TERM $$'], limits), { is: 'killed', by: 'SIGTERM', stderr: '' });
  const missing = await runCommand('no-such-program', [], limits);
  assert.equal(missing.is, 'missing');
  assert.deepEqual(limits.clock.actions, []);
});

test('a deadline and an abort kill a program with all that it started, and do not wait for its end', async () => {
  const clock = new FakeClock();
  const late = runCommand('sh', ['-c', 'sleep 1000 & wait'], { clock, deadlineMs: 1000, signal: never });
  await clock.advance(1000);
  const end = await late;
  assert.ok(end.is === 'late');
  await end.ended;
  const stop = new AbortController();
  const aborted = runCommand('sleep', ['1000'], { clock, deadlineMs: 1000, signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(aborted, /^Error: enough$/);
  assert.deepEqual(clock.actions, []);
});
