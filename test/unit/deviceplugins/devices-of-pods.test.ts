import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { filter, firstValueFrom, map, startWith } from 'rxjs';
import { capability } from '../../../src/deviceplugins/capability.ts';
import type { Contribution } from '../../../src/ports/contribution.ts';
import type { Pod, PodStatus, PodUid } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { always, agentOnFakeEngine, type AgentOnFakeEngine } from '../../fakes/agent-on-fake-engine.ts';
import { FakeDevicePlugin, healthy } from '../../fakes/device-plugin.ts';

const GPU = 'example.com/gpu';
const gpuPod = (name: string): Pod =>
  aPod(
    name,
    {
      containers: [aContainer('app', { image: 'busybox', resources: { limits: { [GPU]: '1' }, requests: { [GPU]: '1' } } })],
      restartPolicy: 'Always',
    },
    { uid: name as PodUid },
  );

async function withPlugin(t: TestContext, ...ids: readonly string[]): Promise<{ agent: AgentOnFakeEngine; plugin: FakeDevicePlugin }> {
  const rootDir = mkdtempSync(join(tmpdir(), 'rxlet-dpe-'));
  let given: Contribution = {};
  const devices = always('deviceplugins', async (node) => (given = await capability(node)));
  const agent = agentOnFakeEngine({ options: { rootDir }, capabilities: [devices] });
  const plugin = new FakeDevicePlugin(rootDir, { devices: healthy(...ids) });
  t.after(async () => {
    await plugin.stop();
    await agent.close();
    rmSync(rootDir, { recursive: true });
  });
  // The agent's start waits for its socket.
  while (given.node === undefined) await agent.clock.advance(10);
  await agent.clock.until(connected(plugin));
  while (given.node.resources?.()[GPU] !== String(ids.length)) await agent.clock.advance(10);
  return { agent, plugin };
}

/** Once the socket is there. */
async function connected(plugin: FakeDevicePlugin): Promise<void> {
  await plugin.start({ register: false });
  for (;;) {
    const fault = await plugin.register().catch(String);
    if (fault === undefined) return;
    if (!fault.includes('ENOENT')) throw new Error(fault);
  }
}

/** The plugin answers in real time, and must not be late by the agent's clock on a busy machine. */
const STEP_MS = 1;

const shown = (agent: AgentOnFakeEngine, name: string, is: (status: PodStatus) => boolean): Promise<PodStatus> => {
  const now = (): PodStatus | undefined => agent.statuses.get(name as PodUid);
  return agent.clock.until(
    firstValueFrom(
      agent.statuses.changes.pipe(
        startWith(undefined),
        map(now),
        filter((status) => status !== undefined),
        filter(is),
      ),
    ),
    STEP_MS,
  );
};
const healthOf = ({ containerStatuses: [app] = [] }: PodStatus): string =>
  (app?.allocatedResourcesStatus ?? [])
    .flatMap(({ name, resources = [] }) => resources.map(({ resourceID, health }) => `${name} ${resourceID} ${health}`))
    .join();

test('of pods that race for the last device one runs, the others are refused', async (t) => {
  const { agent, plugin } = await withPlugin(t, 'a');
  agent.declare(['x', 'y', 'z'].map(gpuPod));
  const statuses = await Promise.all(
    ['x', 'y', 'z'].map((name) => shown(agent, name, ({ phase }) => phase === 'Running' || phase === 'Failed')),
  );
  assert.deepEqual(statuses.map(({ phase }) => String(phase)).toSorted(), ['Failed', 'Failed', 'Running']);
  const refused = statuses.find(({ phase }) => phase === 'Failed');
  assert.equal(refused?.reason, 'UnexpectedAdmissionError');
  assert.match(refused?.message ?? '', /requested number of devices unavailable for example.com\/gpu. Requested: 1, Available: 0/);
  assert.deepEqual(plugin.asked, ['allocate a']);
});

test('how the devices of a container do is shown before it could be made', async (t) => {
  const { agent, plugin } = await withPlugin(t, 'a');
  const { spec, ...pod } = gpuPod('x');
  agent.declare([
    { ...pod, spec: { ...spec, containers: spec.containers.map((each) => ({ ...each, image: 'absent:1', imagePullPolicy: 'Never' })) } },
  ]);
  const { phase } = await shown(agent, 'x', (status) => healthOf(status) === 'example.com/gpu a Healthy');
  assert.equal(phase, 'Pending');
  plugin.list([{ ID: 'a', health: 'Unhealthy' }]);
  await shown(agent, 'x', (status) => healthOf(status) === 'example.com/gpu a Unhealthy');
});

test('a device that fails is shown with the pod that has it, which runs on, and is given to nobody else', async (t) => {
  const { agent, plugin } = await withPlugin(t, 'a', 'b');
  agent.declare([gpuPod('x')]);
  assert.equal(healthOf(await shown(agent, 'x', (status) => healthOf(status) !== '')), 'example.com/gpu a Healthy');
  plugin.list([{ ID: 'a', health: 'Unhealthy' }, ...healthy('b')]);
  const status = await shown(agent, 'x', (now) => healthOf(now) === 'example.com/gpu a Unhealthy');
  assert.equal(status.phase, 'Running');
  agent.declare(['x', 'y', 'z'].map(gpuPod));
  const others = await Promise.all(['y', 'z'].map((name) => shown(agent, name, ({ phase }) => phase === 'Running' || phase === 'Failed')));
  assert.deepEqual(others.map(({ phase }) => String(phase)).toSorted(), ['Failed', 'Running']);
  await plugin.stop();
  await shown(agent, 'x', (now) => healthOf(now) === 'example.com/gpu a Unknown');
  await agent.clock.until(plugin.start());
  await shown(agent, 'x', (now) => healthOf(now) === 'example.com/gpu a Unhealthy');
});
