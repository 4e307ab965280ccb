import { LiveValue } from '../../../src/base/live.ts';
import assert from 'node:assert/strict';
import { networkInterfaces, tmpdir } from 'node:os';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { collectNodeFacts, type NodeFactsDeps } from '../../../src/node/collect-node-facts.ts';
import { composeNodeStatus } from '../../../src/node/compose-node-status.ts';
import { parseNodeIps } from '../../../src/node/ip-address.ts';

const never = new AbortController().signal;
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((info) => info?.family === 'IPv4' && !info.internal)?.address;

const deps = (changes: Partial<NodeFactsDeps> = {}): NodeFactsDeps => ({
  clock: systemClock,
  log: silentLogger,
  settings: {
    nodeName: 'n1',
    hostname: 'n1',
    nodeIps: parseNodeIps(ownAddress ?? ''),
    externalCloudProvider: false,
    rootDir: tmpdir(),
    kubeletPort: 10_250,
    release: '0.1.0',
    arch: process.arch,
    declaredFeatures: ['ExtendWebSocketsToKubelet'],
    localStorage: true,
  },
  live: new LiveValue({ maxPods: 110, podsPerCore: 0, nodeStatusMaxImages: 50 }),
  resources: { reserved: () => ({ cpu: '100m' }), provided: () => ({ capacity: {}, allocatable: {} }) },
  conditions: () => [],
  images: async () => [{ repoTags: ['a:1'], repoDigests: [], sizeBytes: 1 }],
  containerRuntimeVersion: async () => 'docker://20.10.24',
  engineFeatures: async () => ({
    handlers: [{ name: '', recursiveReadOnly: true, userNamespaces: false }],
    supplementalGroupsPolicy: true,
    imageVolumes: 'never',
  }),
  errors: () => [],
  ...changes,
});

test('this machine makes a node that is ready', async () => {
  const facts = await collectNodeFacts(deps())(never);
  const { node, faults } = composeNodeStatus({ metadata: { name: 'n1' } }, facts);
  assert.deepEqual(faults, []);
  assert.equal(node.status.conditions?.at(-1)?.status, 'True');
  assert.equal(node.status.nodeInfo?.containerRuntimeVersion, 'docker://20.10.24');
  assert.deepEqual(node.status.runtimeHandlers, [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }]);
  assert.deepEqual(node.status.features, { supplementalGroupsPolicy: true });
  assert.deepEqual(node.status.declaredFeatures, ['ExtendWebSocketsToKubelet']);
  assert.deepEqual(node.status.images, [{ names: ['a:1'], sizeBytes: 1 }]);
  assert.ok(Number(node.status.capacity?.['cpu']) >= 1);
  assert.notEqual(node.status.allocatable?.['cpu'], node.status.capacity?.['cpu']);
});

test('an engine that does not answer, or fails, keeps no node from being told', async () => {
  const stop = new AbortController();
  const slow = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const collect = collectNodeFacts(
    deps({ images: slow, engineFeatures: slow, containerRuntimeVersion: () => Promise.reject(new Error('down')), errors: () => ['down'] }),
  );
  const facts = await collect(stop.signal);
  stop.abort();
  const { status } = composeNodeStatus({}, facts).node;
  assert.equal(status.images, undefined);
  assert.equal(status.runtimeHandlers, undefined);
  assert.equal(status.nodeInfo?.containerRuntimeVersion, 'docker://Unknown');
  assert.equal(status.conditions?.at(-1)?.message, 'down');
});
