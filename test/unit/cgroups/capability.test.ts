import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/cgroups/capability.ts';
import type { ResourceList } from '../../../src/model/node.ts';
import { nodeResources } from '../../../src/node/node-resources.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';

const capacity = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };

/** A machine, and what is kept from its pods. */
function machine(options: Partial<KubeletOptions>) {
  const resources = nodeResources({
    ofMachine: (reserved) => ({ capacity, allocatable: reserved }),
    shown: () => undefined,
  });
  const under = nodeUnderTest({ options });
  return { under, node: { ...under.node, node: { ...under.node.node, resources } }, reserved: (): ResourceList => resources.reserved() };
}

test('what the options reserve is kept from pods, hard evictions included, of what the node has', () => {
  const { node, reserved } = machine({
    kubeReserved: { cpu: '100m', memory: '1Gi', pid: '100' },
    systemReserved: { memory: '1Gi' },
    evictionHard: { 'memory.available': '25%', 'nodefs.available': '10Gi', 'pid.available': '10%' },
  });
  capability(node);
  assert.deepEqual(reserved(), { cpu: '100m', memory: '4Gi', 'ephemeral-storage': '10Gi' });
});

test('more than the node has cannot be reserved', () => {
  const { node } = machine({ systemReserved: { cpu: '5' } });
  assert.throws(() => capability(node), {
    message:
      'invalid Node Allocatable configuration. Resource "cpu" has a reservation of 5 but capacity of 4. Expected capacity >= reservation.',
  });
});

test('on an engine that has no cgroups pods run without, and nothing is said of it', async () => {
  const { node, under } = machine({});
  const signal = new AbortController().signal;
  const { pod } = capability(node);
  const web = aPod('web');
  assert.equal(pod?.isPrepared?.(web), false, 'the engine was not asked yet');
  assert.equal(await pod.prepare?.(web, signal), undefined);
  assert.equal(pod.isPrepared(web), true);
  assert.deepEqual(await pod.sandbox?.(web, signal), {});
  await pod.release?.(web.metadata.uid, signal);
  assert.deepEqual(under.log.lines, []);
});

test('on an engine whose cgroups cannot be written they run without, too, and it is said once', async () => {
  const { node, under } = machine({});
  const { engine } = node;
  const features: typeof engine.features = async (signal) => ({
    ...(await engine.features(signal)),
    cgroups: { driver: 'cgroupfs', version: 2 },
  });
  const { pod } = capability({ ...node, engine: { ...engine, features, dataDirectory: async () => '/var/lib/docker' } });
  const signal = new AbortController().signal;
  for (const name of ['web', 'db']) {
    await pod?.prepare?.(aPod(name), signal);
    assert.deepEqual(await pod?.sandbox?.(aPod(name), signal), {});
  }
  assert.deepEqual(
    under.log.lines.map(({ level, message }) => `${level} ${message}`),
    ['warn pods have no cgroups of their own: nothing limits a pod as a whole, nor all pods together'],
  );
});
