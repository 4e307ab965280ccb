import { create } from '@bufbuild/protobuf';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ContainerAllocateResponseSchema } from '../../../src/deviceplugins/api/deviceplugin_pb.js';
import { DeviceAllocations } from '../../../src/deviceplugins/device-allocations.ts';
import { deviceCheckpoint, readDeviceCheckpoint } from '../../../src/deviceplugins/device-checkpoint.ts';
import type { PodUid } from '../../../src/model/pod.ts';

// As kubelets of others have written them, which they show in public.
const ofKubelets = {
  'of one device that is attached to no NUMA node':
    '{"Data":{"PodDeviceEntries":[{"PodUID":"bf52b2cd-b611-4e79-86b1-280b283185c3","ContainerName":"check","ResourceName":"nvidia.com/gpu","DeviceIDs":{"-1":["tegra"]},"AllocResp":"Ch8KFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSBXRlZ3Jh"}],"RegisteredDevices":{"nvidia.com/gpu":["tegra"]}},"Checksum":3660592824}',
  'of two devices of a NUMA node':
    '{"Data":{"PodDeviceEntries":[{"PodUID":"9a15d2b5-c152-46b9-96e0-d57032629e1f","ContainerName":"app","ResourceName":"nvidia.com/gpu","DeviceIDs":{"1":["GPU-9b341c59-f96b-ba85-c137-78c3652fea65","GPU-c1e9f249-b37b-81c2-a8d9-ba5ca0294841"]},"AllocResp":"CmsKFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSUUdQVS1jMWU5ZjI0OS1iMzdiLTgxYzItYThkOS1iYTVjYTAyOTQ4NDEsR1BVLTliMzQxYzU5LWY5NmItYmE4NS1jMTM3LTc4YzM2NTJmZWE2NRokCg4vZGV2L252aWRpYWN0bBIOL2Rldi9udmlkaWFjdGwaAnJ3GiYKDy9kZXYvbnZpZGlhLXV2bRIPL2Rldi9udmlkaWEtdXZtGgJydxoyChUvZGV2L252aWRpYS11dm0tdG9vbHMSFS9kZXYvbnZpZGlhLXV2bS10b29scxoCcncaLgoTL2Rldi9udmlkaWEtbW9kZXNldBITL2Rldi9udmlkaWEtbW9kZXNldBoCcncaIAoML2Rldi9udmlkaWExEgwvZGV2L252aWRpYTEaAnJ3GiAKDC9kZXYvbnZpZGlhMhIML2Rldi9udmlkaWEyGgJydw=="}],"RegisteredDevices":{"nvidia.com/gpu":["GPU-77a702db-e37f-3a74-d46d-c5713f66058c","GPU-9b341c59-f96b-ba85-c137-78c3652fea65","GPU-c1e9f249-b37b-81c2-a8d9-ba5ca0294841"]}},"Checksum":2530956716}',
  'of nothing allocated':
    '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"nvidia.com/gpu":["GPU-0650a168-e770-3ea8-8ac3-8a1d419763e0"]}},"Checksum":3952659280}',
};

const good = ofKubelets['of one device that is attached to no NUMA node'];

describe('a checkpoint of devices', () => {
  for (const [what, text] of Object.entries(ofKubelets))
    test(`${what} is read as a kubelet wrote it, and written as it was`, () => {
      const json = JSON.parse(text);
      const { allocations, resources } = readDeviceCheckpoint(json);
      const all = new DeviceAllocations();
      for (const each of allocations) all.insert(...each);
      assert.deepEqual(resources, ['nvidia.com/gpu']);
      assert.equal(JSON.stringify(deviceCheckpoint(all, new Map(Object.entries(json.Data.RegisteredDevices)))), text);
    });

  test('says how a container gets at its devices', () => {
    const [found] = readDeviceCheckpoint(JSON.parse(good)).allocations;
    assert.deepEqual(found?.slice(0, 3), ['bf52b2cd-b611-4e79-86b1-280b283185c3', 'check', 'nvidia.com/gpu']);
    const { ids, byNode, response } = found?.[3] ?? {};
    assert.deepEqual([[...(ids ?? [])], byNode?.get(-1), response?.envs], [['tegra'], ['tegra'], { NVIDIA_VISIBLE_DEVICES: 'tegra' }]);
  });

  test('keeps names of all kinds', () => {
    const allocations = new DeviceAllocations();
    const response = create(ContainerAllocateResponseSchema, { envs: { ä: '\u0000\n' } });
    const byNode = new Map([
      [10, ['b']],
      [-1, ['ü']],
      [9, ['b']],
    ]);
    allocations.insert('u' as PodUid, 'c', 'a.b/é', { ids: new Set(['b', 'ü']), byNode, response });
    const read = readDeviceCheckpoint(JSON.parse(JSON.stringify(deviceCheckpoint(allocations, new Map([['a.b/é', []]])))));
    assert.deepEqual(read.allocations[0]?.[3].byNode, byNode);
    assert.deepEqual(read.allocations[0]?.[3].response.envs, { ä: '\u0000\n' });
  });

  test('never has more than can be read again: of what is listed the names do, and what is too much is refused', () => {
    const allocations = new DeviceAllocations();
    const listed = new Map([['a.b/c', Array.from({ length: 16 }, (_, n) => `${n}`.padEnd(1 << 20, 'x'))]]);
    const { RegisteredDevices } = deviceCheckpoint(allocations, listed).Data;
    assert.deepEqual(RegisteredDevices, { 'a.b/c': [] });
    const byNode = new Map([[-1, listed.get('a.b/c') ?? []]]);
    allocations.insert('u' as PodUid, 'c', 'a.b/c', { ids: new Set(), byNode, response: create(ContainerAllocateResponseSchema) });
    assert.throws(() => deviceCheckpoint(allocations, listed), /what pods have of devices takes \d+ bytes, more than the 15728640 allowed/);
  });

  for (const [what, text] of [
    ['with another device', good.replaceAll('tegra', 'other')],
    ['with another checksum', good.replace('3660592824', '1')],
    ['without data', '{}'],
    ['that is a list', '[]'],
    ['without texts', good.replace('"check"', '7')],
    ['by other nodes', good.replace('"-1"', '"x"')],
    ['as it was before NUMA nodes', good.replace('{"-1":["tegra"]}', '["tegra"]')],
  ] as const)
    test(`is not taken ${what}`, () => assert.throws(() => readDeviceCheckpoint(JSON.parse(text))));
});
