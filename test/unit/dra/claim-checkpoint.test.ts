import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { claimCheckpoint, type ClaimEntry, claimsIn, MAX_CHECKPOINT_BYTES } from '../../../src/dra/claim-checkpoint.ts';
import type { PodUid } from '../../../src/model/pod.ts';

const entry = (over: Partial<ClaimEntry> = {}): ClaimEntry => ({
  uid: 'c1',
  name: 'gpus',
  namespace: 'default',
  podUids: new Set(['p1' as PodUid]),
  drivers: new Map([
    [
      'gpu.org',
      {
        devices: [{ poolName: 'n1', deviceName: 'gpu-0', requestNames: ['gpu'], cdiDeviceIds: ['example.org/gpu=0'] }],
        preparedIn: 'boot',
      },
    ],
  ]),
  ...over,
});

const signed = (Data: string): object => ({ Data, Checksum: crc32(Data) });

describe('checkpoint of claims', () => {
  it('is what a kubelet reads', () => {
    const { Data, Checksum } = claimCheckpoint([entry()]);
    assert.equal(
      Data,
      '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","Entries":[{"ClaimUID":"c1","ClaimName":"gpus","Namespace":"default","PodUIDs":{"p1":{}},"DriverState":{"gpu.org":{"Devices":[{"PoolName":"n1","DeviceName":"gpu-0","RequestNames":["gpu"],"CDIDeviceIDs":["example.org/gpu=0"]}],"PreparedIn":"boot"}}}]}',
    );
    assert.equal(Checksum, crc32(Data));
  });

  it('comes back as it was', () => {
    assert.deepEqual(claimsIn(JSON.parse(JSON.stringify(claimCheckpoint([entry()])))), [entry()]);
    assert.deepEqual(claimsIn(claimCheckpoint([])), []);
  });

  it("reads a kubelet's, which does not say what is prepared", () => {
    const data =
      '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","Entries":[{"ClaimUID":"c1","ClaimName":"gpus","Namespace":"default","PodUIDs":{"p1":{}},"DriverState":{"gpu.org":{"Devices":[{"PoolName":"n1","DeviceName":"gpu-0","ShareID":null,"RequestNames":null,"CDIDeviceIDs":["example.org/gpu=0"]}]},"nic.org":{"Devices":null}}}]}';
    const [read] = claimsIn(signed(data)) ?? [];
    assert.deepEqual(read?.drivers.get('gpu.org'), {
      devices: [{ poolName: 'n1', deviceName: 'gpu-0', requestNames: [], cdiDeviceIds: ['example.org/gpu=0'] }],
      preparedIn: undefined,
    });
    assert.deepEqual(read?.drivers.get('nic.org'), { devices: [], preparedIn: undefined });
    assert.deepEqual(claimsIn(signed('{"kind":"DRACheckpoint","Entries":null}')), []);
  });

  it('is nothing where it is damaged', () => {
    for (const json of [
      undefined,
      [],
      {},
      { Data: '{}', Checksum: 1 },
      signed('{'),
      signed('[]'),
      signed('{"Entries":{}}'),
      signed('{"Entries":[{"ClaimUID":1}]}'),
      signed('{"Entries":[7]}'),
    ])
      assert.equal(claimsIn(json), undefined, JSON.stringify(json));
  });

  it('is not written where it could not be read again', () => {
    const large = entry({ uid: 'x'.repeat(MAX_CHECKPOINT_BYTES) });
    assert.throws(() => claimCheckpoint([large]), /more than the 15728640 allowed/);
  });
});
