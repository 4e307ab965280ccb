import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adoptedNode, initialNode, type RegistrationOptions } from '../../../src/node/initial-node.ts';

const plain: RegistrationOptions = {
  nodeName: 'n1',
  hostname: 'n1',
  arch: 'x64',
  nodeLabels: {},
  registerWithTaints: [],
  registerSchedulable: true,
  providerId: '',
  externalCloudProvider: false,
  enableControllerAttachDetach: true,
};
const defaults = {
  'kubernetes.io/hostname': 'n1',
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  'beta.kubernetes.io/os': 'linux',
  'beta.kubernetes.io/arch': 'amd64',
};
const attachDetach = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

test('a plain node has the labels and the annotation that every node has', () => {
  assert.deepEqual(initialNode(plain), {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels: defaults, annotations: attachDetach },
    spec: {},
  });
});

const noSchedule = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
for (const [what, options, spec] of [
  [
    'a taint without a value',
    { registerWithTaints: [{ key: 'a', value: '', effect: 'NoExecute' }] },
    { taints: [{ key: 'a', effect: 'NoExecute' }] },
  ],
  ['unschedulable', { registerSchedulable: false }, { unschedulable: true, taints: [noSchedule] }],
  [
    'unschedulable by a taint, too',
    { registerSchedulable: false, registerWithTaints: [noSchedule] },
    { unschedulable: true, taints: [noSchedule] },
  ],
  [
    'of an external cloud',
    { externalCloudProvider: true, providerId: 'cloud://1' },
    { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }], providerID: 'cloud://1' },
  ],
] as const)
  test(`a node to register: ${what}`, () => assert.deepEqual(initialNode({ ...plain, ...options }).spec, spec));

test('own labels overrule the defaults', () => {
  const { metadata } = initialNode({
    ...plain,
    nodeLabels: { 'kubernetes.io/arch': 'arm64', role: 'x' },
    enableControllerAttachDetach: false,
  });
  assert.deepEqual(metadata, { name: 'n1', labels: { ...defaults, 'kubernetes.io/arch': 'arm64', role: 'x' } });
});

test('an existing node gets its default labels, annotation and huge pages corrected; the rest stays', () => {
  const existing = {
    metadata: {
      name: 'n1',
      uid: 'u',
      labels: { 'kubernetes.io/arch': 'arm64', role: 'theirs', 'topology.kubernetes.io/zone': 'a' },
      annotations: { x: 'y' },
    },
    spec: { unschedulable: true, taints: [{ key: 'theirs', effect: 'NoSchedule' }] },
    status: { capacity: { cpu: '2', 'hugepages-1Gi': '1Gi', 'hugepages-2Mi': '0' }, allocatable: { 'hugepages-1Gi': '1Gi' } },
  };
  const initial = {
    ...initialNode({ ...plain, nodeLabels: { role: 'ours' }, registerWithTaints: [noSchedule] }),
    status: { capacity: { 'hugepages-2Mi': '0' } },
  };
  assert.deepEqual(adoptedNode(existing, initial), {
    metadata: {
      name: 'n1',
      uid: 'u',
      labels: { ...defaults, role: 'theirs', 'topology.kubernetes.io/zone': 'a' },
      annotations: { x: 'y', ...attachDetach },
    },
    spec: existing.spec,
    status: { capacity: { cpu: '2', 'hugepages-2Mi': '0' }, allocatable: {} },
  });
});

test('an existing node loses the annotation when volumes are no longer attached by the controller', () => {
  const existing = initialNode(plain);
  assert.equal(adoptedNode(existing, initialNode({ ...plain, enableControllerAttachDetach: false })).metadata?.annotations, undefined);
});
