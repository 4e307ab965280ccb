import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { GrpcClient } from '../../../src/base/grpc/grpc-client.ts';
import { PodResourcesLister } from '../../../src/podresources/api/podresources-v1_pb.js';
import { engineOfTests } from '../../builders/engine-of-tests.ts';
import { FakeDevicePlugin, healthy } from '../../fakes/device-plugin.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { inside } from './exec-in.ts';
import { app, pod, stays } from './pod-specs.ts';

const NUL = 'example.com/nul';
const asking = { resources: { limits: { [NUL]: '1' }, requests: { [NUL]: '1' } } };

describe('devices of a plugin', { timeout: 300_000 }, () => {
  test('are there in the containers that ask for them, one for each, over restarts of agent and plugin', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    agent.run();
    // Device nodes of the test's own that do what /dev/null does.
    const node = (id: string): string => join(agent.dir, id);
    for (const id of ['n0', 'n1']) execFileSync('mknod', [node(id), 'c', '1', '3']);
    const plugin = new FakeDevicePlugin(agent.rootDir, {
      resource: NUL,
      devices: healthy('n0', 'n1'),
      allocate: ([id = '']) => ({ envs: { NUL: id }, devices: [{ hostPath: node(id), containerPath: '/dev/nul', permissions: 'rw' }] }),
    });
    t.after(() => plugin.stop());
    /** A plugin registers whenever the agent's socket is new. */
    const plugIn = async (from: number): Promise<void> => {
      await agent.logged('its socket', ({ msg }) => msg.startsWith('device plugins register'), from);
      await plugin.start();
      await agent.logged('its devices', ({ msg, ...fields }) => msg === 'devices listed' && fields['devices'] === 2, from);
    };
    await plugIn(0);
    for (const name of ['one', 'two']) await agent.declare(name, pod([app(stays, asking)]));
    const has = async (name: string): Promise<string> => {
      const { app: container } = await agent.up(name);
      assert.ok(container);
      return inside(container.id, 'echo gone > /dev/nul && test -c /dev/nul && echo $NUL');
    };
    const before = [await has('one'), await has('two')];
    assert.deepEqual(before.toSorted(), ['n0', 'n1']);
    await agent.declare('three', pod([app(stays, asking)]));
    await agent.phase('three', 'Failed');

    const ids = async (): Promise<readonly string[]> =>
      (await Promise.all(['one', 'two'].map((name) => agent.containers(name)))).flat().map(({ id }) => id);
    const containers = await ids();
    await agent.kill('SIGKILL');
    await plugin.stop();
    const from = agent.lines.length;
    agent.run();
    await plugIn(from);
    for (const name of ['one', 'two']) await agent.phase(name, 'Running', from);
    assert.deepEqual([await has('one'), await has('two')], before);
    assert.deepEqual(await ids(), containers);

    const socketPath = join(agent.rootDir, 'pod-resources/kubelet.sock');
    const client = new GrpcClient({ target: { socketPath }, clock: systemClock, userAgent: 'test', maxMessageBytes: 1 << 20 });
    t.after(() => client.close());
    const { podResources } = await client.unary(PodResourcesLister.method.list, {}, { timeoutMs: 10_000 }, AbortSignal.timeout(20_000));
    const told = podResources.flatMap(({ name, containers: [first] }) => {
      const [, declared = ''] = /-(\w+)-n1$/.exec(name) ?? [];
      return (first?.devices ?? []).map(({ resourceName, deviceIds }) => `${declared} ${resourceName} ${deviceIds.join()}`);
    });
    assert.deepEqual(told.toSorted(), [`one ${NUL} ${before[0]}`, `two ${NUL} ${before[1]}`]);

    if (engineOfTests === 'docker') {
      const cdi = { resource: 'example.com/cdi', devices: healthy('c'), allocate: () => ({ cdiDevices: [{ name: 'example.com/cdi=c' }] }) };
      const named = await new FakeDevicePlugin(agent.rootDir, cdi).start();
      t.after(() => named.stop());
      await agent.logged('its devices', ({ msg, ...fields }) => msg === 'devices listed' && fields['resource'] === cdi.resource);
      await agent.declare('by-name', pod([app(stays, { resources: { limits: { 'example.com/cdi': '1' } } })]));
      // Of an engine before 28; later ones know no such device.
      await agent.logged('why it has no container', (line) => /CDI/.test(String(line['message'])) && line['reason'] === 'Failed');
    }

    await agent.remove('one');
    await agent.gone('one');
    await agent.declare('four', pod([app(stays, asking)]));
    assert.equal(await has('four'), before[0]);
  });
});
