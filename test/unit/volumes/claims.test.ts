import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/ports/claim-reader.ts';
import { podWith, VolumeStage } from '../../fakes/volume-stage.ts';

const signal = AbortSignal.timeout(10_000);
const stage = VolumeStage.forTests();
const { uid, rootDir, claims, persistentVolumes, events, mounted } = stage;
const dir = (plugin: string, name: string): string => stage.dir(plugin, name);
const env = new Map([['NAME', 'b']]);

const aClaim = (over: PersistentVolumeClaim = {}): PersistentVolumeClaim => ({
  metadata: { name: 'data', uid: 'claim-1' },
  spec: { volumeName: 'pv-1' },
  status: { phase: 'Bound' },
  ...over,
});
const aVolume = (spec: PersistentVolume['spec']): PersistentVolume => ({
  metadata: { name: 'pv-1' },
  spec: { claimRef: { uid: 'claim-1' }, ...spec },
});
const claimed = (readOnly = false) => podWith({ name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly } });
const mountOf = async (pod: ReturnType<typeof podWith>): Promise<unknown> => {
  await stage.volumes.prepare(pod, signal);
  const [container] = pod.spec.containers;
  assert.ok(container);
  return (await stage.volumes.mountsFor(pod, container, env, signal))[0];
};

test('a claim shows the volume that it is bound to: a path of the node as it is, a local directory at a place of its own', async () => {
  claims.set('data', aClaim());
  persistentVolumes.set('pv-1', aVolume({ hostPath: { path: rootDir } }));
  assert.deepEqual(await mountOf(claimed()), { hostPath: rootDir, containerPath: '/v', readOnly: false });
  await stage.volumes.remove(uid, signal);
  persistentVolumes.set('pv-1', aVolume({ local: { path: rootDir }, mountOptions: ['noatime'] }));
  const place = dir('local-volume', 'pv-1');
  assert.deepEqual(await mountOf(claimed(true)), { hostPath: place, containerPath: '/v', readOnly: true });
  assert.deepEqual([...mounted], [[place, { type: 'bind', source: rootDir, options: ['ro', 'noatime'] }]]);
});

test('users of a volume are in the group that the volume names', async () => {
  claims.set('data', aClaim());
  const spec = { claimRef: { uid: 'claim-1' }, hostPath: { path: '/data' } };
  for (const [gid, expected] of [
    ['1234', { supplementalGroup: 1234 }],
    ['staff', {}],
  ] as const) {
    persistentVolumes.set('pv-1', { metadata: { name: 'pv-1', annotations: { 'pv.beta.kubernetes.io/gid': gid } }, spec });
    await stage.volumes.remove(uid, signal);
    assert.deepEqual(await mountOf(claimed()), { hostPath: '/data', containerPath: '/v', readOnly: false, ...expected });
  }
});

test('the claim of an ephemeral volume has to be of its pod', async () => {
  const pod = podWith({ name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } });
  persistentVolumes.set('pv-1', aVolume({ hostPath: { path: '/data' } }));
  const owned = (owner: string) => ({
    ...aClaim().metadata,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: owner, controller: true }],
  });
  claims.set('web-v', aClaim({ metadata: owned('other') }));
  await assert.rejects(stage.volumes.prepare(pod, signal), /error processing PVC default\/web-v: not the ephemeral PVC for the pod$/);
  claims.set('web-v', aClaim({ metadata: owned(uid) }));
  assert.deepEqual(await mountOf(pod), { hostPath: '/data', containerPath: '/v', readOnly: false });
});

test('a claim that leads nowhere holds the pod, in the words of the kubelet', async () => {
  const fine = aVolume({ hostPath: { path: '/data' } });
  for (const [claim, volume, why] of [
    [undefined, fine, 'failed to fetch PVC from API server: persistentvolumeclaims "default/data" not found'],
    [aClaim({ metadata: { uid: 'claim-1', deletionTimestamp: '2026-01-01T00:00:00Z' } }), fine, 'PVC is being deleted'],
    [aClaim({ status: { phase: 'Pending' } }), fine, 'PVC is not bound'],
    [aClaim({ spec: {} }), fine, 'PVC has empty pvc.Spec.VolumeName'],
    [aClaim(), undefined, 'failed to fetch PV pv-1 from API server: persistentvolumes "pv-1" not found'],
    [
      aClaim(),
      { metadata: { name: 'pv-1' }, spec: {} },
      'found PV object pv-1 but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
    ],
    [
      aClaim(),
      aVolume({ claimRef: { uid: 'other' } }),
      'found PV object pv-1 but its pv.Spec.ClaimRef.UID other does not point to claim.UID claim-1',
    ],
    [aClaim(), aVolume({ volumeMode: 'Block' }), 'volume v has volumeMode Block, but is specified in volumeMounts'],
  ] as const) {
    claims.clear();
    persistentVolumes.clear();
    if (claim) claims.set('data', claim);
    if (volume) persistentVolumes.set('pv-1', volume);
    const message = `Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[v]: error processing PVC default/data: ${why}`;
    await assert.rejects(stage.volumes.prepare(claimed(), signal), { message });
    assert.deepEqual(events.splice(0), [`Warning FailedMount ${message}`]);
  }
});

test('a volume that must not be mounted here says so, by its own name', async () => {
  const zone = (value: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] }] },
  });
  claims.set('data', aClaim());
  for (const [spec, message] of [
    [
      { local: { path: '/data' }, nodeAffinity: zone('b') },
      'MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms',
    ],
    [
      { hostPath: { path: '/data' }, mountOptions: ['ro'] },
      'MountVolume.MountOptionSupport check failed for volume "pv-1" : Mount options are not supported for this volume type',
    ],
    [
      { rbd: { image: 'i', monitors: ['m'] } },
      'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[v]: volume "pv-1" is of kind rbd, which this node does not support',
    ],
  ] as const) {
    persistentVolumes.set('pv-1', aVolume(spec));
    await assert.rejects(stage.volumes.prepare(claimed(), signal), { message });
  }
  persistentVolumes.set('pv-1', aVolume({ local: { path: rootDir }, nodeAffinity: zone('a') }));
  await stage.volumes.prepare(claimed(), signal);
});

test('a device that cannot be made is told of in the words of devices', async () => {
  claims.set('data', aClaim());
  persistentVolumes.set('pv-1', aVolume({ volumeMode: 'Block', csi: { driver: 'csi.example.com', volumeHandle: 'v-1' } }));
  const pod = claimed();
  const containers = pod.spec.containers.map((container) => ({
    ...container,
    volumeMounts: [],
    volumeDevices: [{ name: 'v', devicePath: '/dev/xvda' }],
  }));
  const message = 'MapVolume.MapPodDevice failed for volume "pv-1" : this node has no CSI volumes';
  events.length = 0;
  await assert.rejects(stage.volumes.prepare({ ...pod, spec: { ...pod.spec, containers } }, signal), { message });
  assert.deepEqual(events, [`Warning FailedMapVolume ${message}`]);
});
