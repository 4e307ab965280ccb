// Dynamic resource allocation with all that is real: an API server, a scheduler and controllers of 1.34 or later, and a runtime with CDI.
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { clusterDirectory, kubectl } from '../../builders/cluster-under-test.ts';
import { SampleDraPlugin } from '../../fakes/sample-dra-plugin.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { ClusterNode, type PodJson } from '../agent/cluster-node.ts';

const CDI_DIRECTORY = '/var/run/cdi';
const DEVICE = 'the-only-one';

const using = (claim: object) =>
  pod([app(`echo "given $GIVEN"; ${stays}`, { resources: { claims: [{ name: 'device' }] } })], {
    resourceClaims: [{ name: 'device', ...claim }],
  });

/** What the pod's container says of its devices: its name, and each device's id and health. */
const health = ({ status }: PodJson): unknown =>
  status?.containerStatuses?.[0]?.allocatedResourcesStatus?.map(({ name, resources }) => [
    name,
    resources?.map((each) => [each.resourceID, each.health]),
  ]);

test('pods share, wait for and hand over the only device of a node', { timeout: 400_000 }, async (t) => {
  const node = await ClusterNode.start(t, `--client-ca-file=${join(clusterDirectory(), 'pki/ca.crt')}`, '--authorization-mode=Webhook');
  const driver = `dra-${node.name}.example.org`;
  const kind = `${driver}/device`;
  const cdi = join(CDI_DIRECTORY, `${driver}.json`);
  const plugin = await SampleDraPlugin.listen(join(node.agent.rootDir, 'plugins_registry', 'dra.sock'), driver);
  plugin.deviceOf = () => DEVICE;
  t.after(() => plugin[Symbol.asyncDispose]());
  await mkdir(CDI_DIRECTORY, { recursive: true });
  await writeFile(cdi, JSON.stringify({ cdiVersion: '0.5.0', kind, devices: [{ name: DEVICE, containerEdits: { env: ['GIVEN=it'] } }] }));
  t.after(() => rm(cdi));

  // As the driver itself publishes them. What a pod asks for is a class, and the class names the driver.
  const version = 'resource.k8s.io/v1';
  const requests = [{ name: 'device', exactly: { deviceClassName: driver } }];
  t.after(async () => void (await kubectl('delete', 'deviceclass', driver, '--ignore-not-found')));
  await node.apply(
    {
      apiVersion: version,
      kind: 'DeviceClass',
      metadata: { name: driver },
      spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] },
    },
    {
      apiVersion: version,
      kind: 'ResourceSlice',
      metadata: { name: driver },
      spec: { driver, nodeName: node.name, pool: { name: node.name, generation: 1, resourceSliceCount: 1 }, devices: [{ name: DEVICE }] },
    },
    { apiVersion: version, kind: 'ResourceClaim', metadata: { name: 'shared' }, spec: { devices: { requests } } },
    { apiVersion: version, kind: 'ResourceClaimTemplate', metadata: { name: 'own' }, spec: { spec: { devices: { requests } } } },
  );
  const logs = (name: string): Promise<string> => node.kubectl('logs', node.called(name));

  await Promise.all(['first', 'second'].map((name) => node.create(name, using({ resourceClaimName: 'shared' }))));
  for (const name of ['first', 'second']) {
    await node.up(name);
    assert.match(await logs(name), /^given it$/m);
  }
  assert.deepEqual(plugin.asked, ['prepare shared']);

  // Another claim waits for the device, and an agent that was killed finds what was prepared.
  await node.create('third', using({ resourceClaimTemplateName: 'own' }));
  await node.agent.kill('SIGKILL');
  node.run();
  await node.becomes('first', 'unharmed', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 0);
  await node.until('the driver is heard again', () => plugin.timesHeard === 2);
  plugin.say(DEVICE, 'UNHEALTHY', 'too hot');
  await node.becomes('first', 'shown with a device that is not well', (is) => JSON.stringify(health(is)).includes('Unhealthy'));
  plugin.say(DEVICE, 'HEALTHY', '');
  await node.becomes('first', 'shown with a device that is well', (is) => JSON.stringify(health(is)).includes('"Healthy"'));

  assert.equal(node.pod('third')?.spec?.nodeName, undefined);
  await node.kubectl('delete', 'pod', node.called('first'), node.called('second'));
  await node.up('third');
  assert.match(await logs('third'), /^given it$/m);
  const [unprepared, prepared] = plugin.asked.slice(1);
  assert.equal(unprepared, 'unprepare shared');
  assert.match(prepared ?? '', /^prepare .*third-device-/);

  await node.kubectl('delete', 'pod', node.called('third'));
  await node.gone('third');
  assert.equal(plugin.asked.length, 4);
  assert.match(plugin.asked[3] ?? '', /^unprepare .*third-device-/);
  assert.match(await kubectl('get', 'resourceslices', '-o', 'name'), new RegExp(driver));
});
