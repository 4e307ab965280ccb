import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import { capability } from '../../../src/stats/capability.ts';
import { aMachine, cgroupV2 } from '../../builders/a-machine.ts';
import { nodeUnderTest, nothingGiven, runServices } from '../../builders/node-parts.ts';
import { serveRoutes } from '../../fakes/served-routes.ts';

test('what the node uses is measured while the service runs', async (t) => {
  const scene = nodeUnderTest();
  t.after(() => scene.node.engine.close());
  const { services = [], routes = [], metricTexts = [] } = capability(scene.node);
  const served = await serveRoutes(routes);
  t.after(() => served.close());
  const stop = new AbortController();
  const runs = services.map((service) => service.run(stop.signal, nothingGiven));
  await Promise.all(services.map(async (service) => service.ready?.(stop.signal)));
  const get = async (path: string): Promise<string> => {
    const answer = await scene.clock.until(fetch(`${served.url}${path}`));
    return await answer.text();
  };

  assert.match(await get('/stats/summary'), /^\{"node":\{"nodeName":"n1",/);
  const resource = await get('/metrics/resource');
  assert.match(resource, /^scrape_error 0$/m);
  assert.match(resource, /^node_memory_working_set_bytes \d+/m);
  assert.match(await get('/metrics/cadvisor'), /^machine_memory_bytes\S* \d+/m);
  const texts = await scene.clock.until(Promise.all(metricTexts.map((text) => text(stop.signal))));
  assert.deepEqual(texts, [''], 'no pod has volumes');

  stop.abort();
  await Promise.all(runs);
  await scene.clock.advance(60_000);
  assert.match(await get('/stats/summary'), /^Internal Error: stats are closed/);
});

test('kubeletCgroups, runtimeCgroups and systemCgroups: the cgroups that these daemons are measured in', async (t) => {
  const machine = await aMachine({
    'sys/fs/cgroup/cgroup.controllers': 'cpu memory',
    ...cgroupV2('/agent', { cpuNs: 1e9, usage: 1000, inactive: 0 }),
    ...cgroupV2('/engine', { cpuNs: 2e9, usage: 2000, inactive: 0 }),
    ...cgroupV2('/rest', { cpuNs: 3e9, usage: 3000, inactive: 0 }),
  });
  t.after(() => machine.remove());
  const scene = nodeUnderTest({
    options: { kubeletCgroups: '/agent', runtimeCgroups: '/engine', systemCgroups: '/rest' },
    cgroups: await readCgroupHierarchy(machine.at('sys/fs/cgroup')),
  });
  t.after(() => scene.node.engine.close());
  const { services, stats } = capability(scene.node);
  const running = runServices(services);
  t.after(() => running.stop());
  const { signal } = new AbortController();
  const { systemContainers } = await scene.clock.until(stats?.node(signal) ?? Promise.reject(new Error('nothing is measured')));
  assert.deepEqual(
    systemContainers.flatMap(({ name, memory }) => (name === 'pods' ? [] : [[name, memory?.usageBytes]])),
    [
      ['kubelet', 1000],
      ['runtime', 2000],
      ['misc', 3000],
    ],
  );
});
