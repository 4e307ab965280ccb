import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeNodeStatus } from '../../../src/node/compose-node-status.ts';
import { nodeStatusHasChanged, nodeStatusPatch } from '../../../src/node/node-status-changed.ts';
import { someNodeFacts } from '../../builders/node-facts.ts';

test('a new node has a whole status, Ready last', () => {
  const { node, events, faults } = composeNodeStatus({ metadata: { name: 'n1' } }, someNodeFacts());
  const now = '2021-02-03T04:05:06Z';
  const fine = (type: string, reason: string, message: string, status = 'False'): object => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  assert.deepEqual(node.status, {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: 'n1' },
    ],
    capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '20Gi' },
    allocatable: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '20Gi' },
    conditions: [
      fine('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      fine('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      fine('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      fine('Ready', 'KubeletReady', 'kubelet is posting ready status', 'True'),
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: {
      machineID: 'machine',
      systemUUID: 'system',
      bootID: 'boot',
      kernelVersion: '6.1.0',
      osImage: 'Debian',
      containerRuntimeVersion: 'docker://20.10.24',
      kubeletVersion: 'v1.36.2+rxlet.0.1.0',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    images: [{ names: ['busybox:1.35'], sizeBytes: 1000 }],
  });
  assert.deepEqual(
    events.map(({ message }) => message),
    ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'].map((event) => `Node n1 status is now: ${event}`),
  );
  assert.deepEqual(faults, []);
});

test('composed again, only heartbeats differ, and no event is told', () => {
  const first = composeNodeStatus({ metadata: { name: 'n1' } }, someNodeFacts());
  const later = composeNodeStatus(first.node, someNodeFacts({ nowMs: someNodeFacts().nowMs + 10_000 }));
  assert.equal(nodeStatusHasChanged(first.node.status, later.node.status), false);
  assert.notDeepEqual(first.node.status, later.node.status);
  assert.deepEqual(later.events, []);
});

test('what others wrote, and what is not known now, stays', () => {
  const before = composeNodeStatus({}, someNodeFacts({ volumesInUse: ['v'] })).node;
  const foreign = {
    ...before,
    status: { ...before.status, phase: 'Running', capacity: { ...before.status.capacity, 'example.com/gpu': '2' } },
  };
  const unknowing = someNodeFacts({ images: undefined, machine: undefined, capacity: {} });
  const { status } = composeNodeStatus(foreign, { ...unknowing, addresses: { ...unknowing.addresses, fault: () => 'gone' } }).node;
  assert.deepEqual(
    [status.phase, status.images, status.volumesInUse, status.addresses, status.nodeInfo?.machineID, status.capacity?.['example.com/gpu']],
    ['Running', before.status.images, ['v'], before.status.addresses, 'machine', '2'],
  );
});

test('another boot is told', () => {
  const before = composeNodeStatus({}, someNodeFacts()).node;
  const { machine } = someNodeFacts();
  assert.ok(machine);
  const { events } = composeNodeStatus(before, someNodeFacts({ machine: { ...machine, bootId: 'new' } }));
  assert.deepEqual(events, [{ type: 'Warning', reason: 'Rebooted', message: 'Node n1 has been rebooted, boot id: new' }]);
});

test('an external cloud learns of --node-ip and keeps its addresses', () => {
  const facts = someNodeFacts();
  const node = { metadata: { name: 'n1' }, status: { addresses: [{ type: 'ExternalIP', address: '4.4.4.4' }] } };
  const composed = composeNodeStatus(node, { ...facts, addresses: { ...facts.addresses, externalCloudProvider: true } }).node;
  assert.deepEqual(composed.metadata?.annotations, { 'alpha.kubernetes.io/provided-node-ip': '10.0.0.1' });
  assert.deepEqual(composed.status.addresses, node.status.addresses);
});

test('a status is sent when it differs or is due', () => {
  const { node } = composeNodeStatus({}, someNodeFacts());
  const times = { nowMs: 1000, reportFrequencyMs: 300 };
  assert.deepEqual(nodeStatusPatch(node, node, { ...times, lastReportMs: undefined }), {});
  assert.equal(nodeStatusPatch(node, node, { ...times, lastReportMs: 701 }), undefined);
  assert.deepEqual(nodeStatusPatch(node, node, { ...times, lastReportMs: 700 }), {});
  const more = { ...node, spec: { unschedulable: true }, status: { ...node.status, phase: 'Running' } };
  assert.deepEqual(nodeStatusPatch(node, more, { ...times, lastReportMs: 999 }), { status: { phase: 'Running' } });
});

test("the node shows its swap, what its engine's handlers can do, and what it declares", () => {
  const { machine } = someNodeFacts();
  assert.ok(machine);
  const facts = someNodeFacts({
    machine: { ...machine, swapBytes: 2 ** 30 },
    engineFeatures: {
      handlers: [
        { name: '', recursiveReadOnly: true, userNamespaces: false },
        { name: 'kata', recursiveReadOnly: false, userNamespaces: true },
      ],
      supplementalGroupsPolicy: false,
      imageVolumes: 'never',
    },
    declaredFeatures: ['ExtendWebSocketsToKubelet'],
  });
  const { status } = composeNodeStatus({ status: { runtimeHandlers: [{ name: 'old' }] } }, facts).node;
  assert.deepEqual(status.nodeInfo?.swap, { capacity: 2 ** 30 });
  assert.deepEqual(status.runtimeHandlers, [
    { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
    { name: 'kata', features: { recursiveReadOnlyMounts: false, userNamespaces: true } },
  ]);
  assert.deepEqual(status.features, { supplementalGroupsPolicy: false });
  assert.deepEqual(status.declaredFeatures, ['ExtendWebSocketsToKubelet']);
});
