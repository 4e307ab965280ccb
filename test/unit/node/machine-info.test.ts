import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineInfo } from '../../../src/node/machine-info.ts';

test('the devices of a machine that cannot be read are not counted', () => {
  const devices = { capacity: { 'example.com/x': '2' }, allocatable: { 'example.com/x': '1' }, removed: ['example.com/y'] };
  const input = { nodeName: 'n', maxPods: 110, podsPerCore: 0, capacity: {}, reservation: {}, devices };
  const nothing = { cpu: '0', memory: '0', pods: '110' };
  assert.deepEqual(machineInfo({}, { ...input, machine: undefined }), {
    capacity: nothing,
    allocatable: nothing,
    ids: undefined,
    events: [],
  });
  const machine = { cores: 1, memoryBytes: 1024, swapBytes: 0, machineId: 'm', systemUuid: 's', bootId: 'b', hugePages: [] };
  const { capacity, allocatable } = machineInfo({}, { ...input, machine });
  assert.deepEqual([capacity['example.com/x'], allocatable['example.com/x'], capacity['example.com/y']], ['2', '1', '0']);
});

test('swap is told where there is some, and a machine that does not tell its boot has not been seen to boot', () => {
  const machine = { cores: 1, memoryBytes: 1024, machineId: 'm', systemUuid: 's', bootId: '', hugePages: [], swapBytes: 2048 };
  const input = { nodeName: 'n', machine, maxPods: 110, podsPerCore: 0, capacity: {}, reservation: {} };
  const nodeInfo = { architecture: '', containerRuntimeVersion: '', kernelVersion: '', kubeProxyVersion: '', kubeletVersion: '' };
  const before = { nodeInfo: { ...nodeInfo, machineID: '', operatingSystem: '', osImage: '', systemUUID: '', bootID: 'old' } };
  const { ids, events } = machineInfo(before, input);
  assert.deepEqual([ids?.swap, events], [{ capacity: 2048 }, []]);
  assert.equal(machineInfo(before, { ...input, machine: { ...machine, bootId: 'new' } }).events[0]?.reason, 'Rebooted');
});

test('swap of a size that no machine has is not shown', () => {
  const machine = { cores: 1, memoryBytes: 1024, machineId: 'm', systemUuid: 's', bootId: '', hugePages: [], swapBytes: 1e23 };
  const { ids } = machineInfo({}, { nodeName: 'n', machine, maxPods: 1, podsPerCore: 0, capacity: {}, reservation: {} });
  assert.deepEqual(ids, { machineID: 'm', systemUUID: 's', bootID: '' });
});
