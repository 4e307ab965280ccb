import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { ContainerAccess, ContainerSession, StreamsWanted } from '../../../src/ports/container-access.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { execOnce, ExecTimeoutError } from '../../../src/ports/exec-once.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const ID = 'c1' as ContainerId;
const never = new AbortController().signal;

function ending(exitCode: number | undefined, out: readonly string[], err: readonly string[] = []): ContainerAccess['exec'] {
  return () =>
    Promise.resolve({
      stdin: undefined,
      stdout: Readable.from(out.map((text) => Buffer.from(text))),
      stderr: Readable.from(err.map((text) => Buffer.from(text))),
      resize: () => Promise.resolve(),
      ended: Promise.resolve(exitCode),
    });
}

/** Ends only by an abort. */
const endless: ContainerAccess['exec'] = (_id, _command, _wanted, signal) => {
  const stdout = new Readable({ read: () => {} });
  const ended = new Promise<undefined>((_, reject) =>
    signal.addEventListener('abort', () => {
      stdout.destroy();
      reject(signal.reason);
    }),
  );
  const session: ContainerSession = { stdin: undefined, stdout, stderr: undefined, resize: () => Promise.resolve(), ended };
  return Promise.resolve(session);
};

describe('a command run once', () => {
  let clock: FakeClock;
  beforeEach(() => {
    clock = new FakeClock();
  });
  afterEach(() => assert.equal(clock.actions.length, 0, 'no timer is left'));

  for (const [name, exec, maxOutputBytes, expected] of [
    ['gives its exit code and both outputs, one after the other', ending(3, ['a', 'b'], ['c']), undefined, { exitCode: 3, output: 'abc' }],
    ['that goes on after its outputs ended has not failed', ending(undefined, []), undefined, { exitCode: 0, output: '' }],
    ['may write more than is kept', ending(0, ['abc', 'def', 'ghi'], ['jkl']), 5, { exitCode: 0, output: 'abcde' }],
    ['keeps 10 KiB unless told otherwise', ending(0, ['x'.repeat(20_000)], ['y']), undefined, { exitCode: 0, output: 'x'.repeat(10_240) }],
  ] as const)
    test(name, async () => {
      const options = { clock, timeoutMs: 1_000, ...(maxOutputBytes !== undefined && { maxOutputBytes }) };
      assert.deepEqual(await execOnce({ exec }, ID, ['true'], options, never), expected);
    });

  test('asks for both outputs, no input and no terminal', async () => {
    const asked: unknown[] = [];
    const exec: ContainerAccess['exec'] = (id, command, wanted: StreamsWanted, signal) => {
      asked.push([id, command, wanted]);
      return ending(0, [])(id, command, wanted, signal);
    };
    await execOnce({ exec }, ID, ['cat', '/x'], { clock }, never);
    assert.deepEqual(asked, [[ID, ['cat', '/x'], { stdin: false, stdout: true, stderr: true, tty: false }]]);
  });

  test('rejects when its time is over, with the words of the kubelet', async () => {
    const running = execOnce({ exec: endless }, ID, ['sleep', '9'], { clock, timeoutMs: 1_000 }, never);
    const rejected = assert.rejects(
      running,
      (error) => error instanceof ExecTimeoutError && error.message === 'command "sleep 9" timed out' && error.timeoutMs === 1_000,
    );
    await clock.advance(1_000);
    await rejected;
  });

  test('rejects with the reason of an abort', async () => {
    const gone = new AbortController();
    const running = execOnce({ exec: endless }, ID, ['sleep', '9'], { clock, timeoutMs: 1_000 }, gone.signal);
    const reason = new Error('stopped');
    gone.abort(reason);
    await assert.rejects(running, (error) => error === reason);
  });

  test('rejects with the reason why it could not be run', async () => {
    const exec: ContainerAccess['exec'] = () => Promise.reject(new Error('container not running (c1)'));
    await assert.rejects(execOnce({ exec }, ID, ['true'], { clock, timeoutMs: 1_000 }, never), /^Error: container not running \(c1\)$/);
  });
});
