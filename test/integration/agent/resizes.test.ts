import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { V1Container } from '@kubernetes/client-node';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

/** Works all the time, and goes at once when told to. */
const busy = "trap 'exit 0' TERM; while :; do :; done";

describe('a resize in place', { timeout: 300_000 }, () => {
  test('gives a container under load more CPU and less as it is, also over a restart of the agent', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const uid = randomUUID();
    const declare = (cpu: string): Promise<void> => agent.declare('web', pod([limited(cpu, '64Mi', busy)]), { metadata: { uid } });
    await declare('100m');
    agent.run();
    const { app: container } = await agent.up('web');
    assert.ok(container);
    const look = async () => {
      const { Id, State, HostConfig } = await agent.engine.inspect(container.id);
      return { is: [Id, State.Pid, State.StartedAt], has: [HostConfig.CpuShares, HostConfig.CpuQuota, HostConfig.Memory] };
    };
    const before = await look();
    assert.deepEqual(before.has, [102, 10_000, 64 * 2 ** 20]);
    const resized = async (cpu: string, quota: number): Promise<void> => {
      const from = agent.lines.length;
      await declare(cpu);
      await agent.until(`a quota of ${quota}`, async () => (await look()).has[1] === quota);
      await agent.logged('ResizeCompleted', ({ reason }) => reason === 'ResizeCompleted', from);
      assert.deepEqual((await look()).is, before.is);
    };
    await resized('300m', 30_000);
    await resized('50m', 5_000);

    await agent.kill('SIGKILL');
    const line = agent.lines.length;
    agent.run();
    await agent.phase('web', 'Running', line);
    await resized('200m', 20_000);
    assert.deepEqual(await look(), { is: before.is, has: [204, 20_000, 64 * 2 ** 20] });
  });

  test('to less memory than is used leaves the container as it is, and says so', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const metadata = { uid: randomUUID() };
    const postStart = { exec: { command: ['sh', '-c', 'head -c 50000000 /dev/zero >/memory/file'] } };
    const spec = (memory: string) =>
      pod([limited('500m', memory, stays, { lifecycle: { postStart }, volumeMounts: [{ name: 'memory', mountPath: '/memory' }] })], {
        volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
      });
    await agent.declare('web', spec('128Mi'), { metadata });
    agent.run();
    await agent.logged('the hook has used 50 MB', ({ did }) => /startContainer app: ok/.test(String(did)));
    const { app: container } = await agent.up('web');
    assert.ok(container);
    await agent.declare('web', spec('32Mi'), { metadata });
    const { message } = await agent.logged('ResizeError', ({ reason }) => reason === 'ResizeError');
    assert.match(
      String(message),
      /cannot decrease memory limits: attempting to set container .* memory limit \(33554432\) below current usage/,
    );
    const { State, HostConfig } = await agent.engine.inspect(container.id);
    assert.deepEqual([State.Status, HostConfig.Memory], ['running', 128 * 2 ** 20]);
  });
});

function limited(cpu: string, memory: string, script: string, over: Partial<V1Container> = {}): V1Container {
  return app(script, { resources: { requests: { cpu, memory }, limits: { cpu, memory } }, ...over });
}
