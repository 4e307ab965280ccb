import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freshDirectory } from './fresh-directory.ts';
import { anAgent } from './an-agent.ts';
import { datagramReceiver } from '../../fakes/datagram-receiver.ts';

const run = promisify(execFile);
const config = (maxPods: number): string => `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${maxPods}\n`;
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'busybox:1.35' }] } };

describe('what a service manager hears', { timeout: 120_000 }, () => {
  for (const kind of ['a path', 'an abstract name'] as const) {
    test(`over ${kind}: that the agent starts, is ready, runs a pod, takes another configuration, and stops`, async (t) => {
      const dir = await freshDirectory(t);
      const socket = kind === 'a path' ? join(dir, 'notify') : `@rxlet-test-${process.pid}`;
      const manager = await datagramReceiver(t, socket);
      const file = join(dir, 'config.yaml');
      await writeFile(file, config(10));
      const agent = await anAgent(t, { dir, env: { NOTIFY_SOCKET: socket }, flags: [`--config=${file}`] });
      await manager.next('STATUS=starting');
      await manager.next('READY=1');
      await manager.next('STATUS=serving; pods: 0');
      await writeFile(join(dir, 'manifests/web.json'), JSON.stringify(pod));
      await manager.next('STATUS=serving; pods: 1');
      await writeFile(file, config(20));
      assert.match(await manager.next('RELOADING=1'), /^RELOADING=1 MONOTONIC_USEC=[1-9]\d{6,}\s*$/);
      await manager.next('READY=1');
      assert.doesNotMatch(manager.all.join('\n'), /WATCHDOG/);
      agent.child.kill('SIGTERM');
      await manager.next('STOPPING=1');
      assert.equal(await agent.exited, 0);
      assert.ok(
        agent.lines.every((line) => !line.includes('service manager')),
        agent.lines.join('\n'),
      );
    });
  }

  test('its watchdog hears of the agent while the main loop turns, and of none that stands still', async (t) => {
    const dir = await freshDirectory(t);
    const manager = await datagramReceiver(t, join(dir, 'notify'));
    const agent = await anAgent(t, { dir, env: { NOTIFY_SOCKET: join(dir, 'notify'), WATCHDOG_USEC: '1200000' } });
    await manager.next('READY=1');
    await manager.next('WATCHDOG=1');
    await manager.next('WATCHDOG=1');
    agent.child.kill('SIGSTOP');
    // What was under way when it was stopped still comes.
    await sleep(300);
    const before = manager.all.length;
    await sleep(2000);
    assert.equal(manager.all.length, before);
    agent.child.kill('SIGCONT');
    await manager.next('WATCHDOG=1');
  });

  test('a socket that is a FIFO, or is not there, or that nobody reads, stops nothing and is logged', async (t) => {
    const dir = await freshDirectory(t);
    await run('mkfifo', [join(dir, 'fifo')]);
    const silent = join(dir, 'silent');
    (await datagramReceiver(t, silent)).stopReading();
    for (const socket of [join(dir, 'fifo'), join(dir, 'nowhere'), silent]) {
      const agent = await anAgent(t, { env: { NOTIFY_SOCKET: socket } });
      await agent.says('starting');
      if (socket !== silent) await agent.says('the service manager cannot be notified');
      agent.child.kill('SIGTERM');
      assert.equal(await agent.exited, 0, agent.lines.join('\n'));
    }
  });

  test('a watchdog that cannot be kept ends the start with what to do', async (t) => {
    const agent = await anAgent(t, { env: { NOTIFY_SOCKET: '/run/nowhere', WATCHDOG_USEC: '1000' } });
    assert.match(await agent.says('WATCHDOG_USEC'), /set WatchdogSec= to more than 1s/);
    assert.equal(await agent.exited, 1);
  });
});
