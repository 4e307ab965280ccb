import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeServiceManager } from '../../../src/systemd/service-manager.ts';

test('what starts the agent by hand wants to hear nothing', () => {
  assert.equal(takeServiceManager({ PATH: '/bin', WATCHDOG_USEC: 'x' }, 7), undefined);
  assert.equal(takeServiceManager({ NOTIFY_SOCKET: '' }, 7), undefined);
});

test("the socket and the watchdog are this process's alone: they are taken out of the environment of what it starts", () => {
  const env = { PATH: '/bin', NOTIFY_SOCKET: '@name', WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' };
  assert.deepEqual(takeServiceManager(env, 7), { socket: '@name', watchdogMs: 30_000 });
  assert.deepEqual(env, { PATH: '/bin' });
});

test('a watchdog of another process is not kept, one without a process is', () => {
  const watchdogOf = (of: NodeJS.ProcessEnv): number | undefined =>
    takeServiceManager({ NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: '2500000', ...of }, 7)?.watchdogMs;
  assert.equal(watchdogOf({ WATCHDOG_PID: '8' }), undefined);
  assert.equal(watchdogOf({}), 2500);
});

test('a watchdog that leaves no time, or is none, ends the start with what to do', () => {
  for (const usec of ['0', '-5', '1000000', '1s', '9'.repeat(100)]) {
    assert.throws(
      () => takeServiceManager({ NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: usec }, 7),
      /WATCHDOG_USEC is .*set WatchdogSec= to more than 1s/,
    );
  }
});
