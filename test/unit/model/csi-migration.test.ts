import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { migratedPersistent, migratedVolume } from '../../../src/model/csi-migration.ts';

describe('volumes of clouds', () => {
  for (const [source, name, csi] of [
    [
      { awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1', fsType: 'ext4', partition: 2 } },
      'ebs.csi.aws.com-vol-1',
      { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1', fsType: 'ext4', volumeAttributes: { partition: '2' } },
    ],
    [
      { gcePersistentDisk: { pdName: 'disk', readOnly: true } },
      'pd.csi.storage.gke.io-disk',
      {
        driver: 'pd.csi.storage.gke.io',
        volumeHandle: 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk',
        readOnly: true,
        volumeAttributes: { partition: '' },
      },
    ],
    [
      { azureDisk: { diskName: 'd', diskURI: '/subscriptions/s/d', cachingMode: 'None', fsType: 'xfs', kind: 'Dedicated' } },
      'disk.csi.azure.com-d',
      {
        driver: 'disk.csi.azure.com',
        volumeHandle: '/subscriptions/s/d',
        fsType: 'xfs',
        volumeAttributes: { kind: 'Dedicated', 'csi-migration': 'true', cachingMode: 'None', fsType: 'xfs' },
      },
    ],
    [
      { azureFile: { secretName: 'azure-storage-account-acc-secret', shareName: 'share' } },
      '#acc#share#v#ns',
      {
        driver: 'file.csi.azure.com',
        volumeHandle: '#acc#share#v#ns',
        volumeAttributes: { sharename: 'share' },
        nodeStageSecretRef: { name: 'azure-storage-account-acc-secret', namespace: 'ns' },
      },
    ],
    [
      { cinder: { volumeID: 'v' } },
      'cinder.csi.openstack.org-v',
      { driver: 'cinder.csi.openstack.org', volumeHandle: 'v', volumeAttributes: {} },
    ],
    [
      { vsphereVolume: { volumePath: '[ds] kubevols/x.vmdk', storagePolicyName: 'gold' } },
      'csi.vsphere.vmware.com-[ds] kubevols~x.vmdk',
      { driver: 'csi.vsphere.vmware.com', volumeHandle: '[ds] kubevols/x.vmdk', volumeAttributes: { storagepolicyname: 'gold' } },
    ],
    [
      { portworxVolume: { volumeID: 'p', fsType: 'ext4' } },
      'pxd.portworx.com-p',
      { driver: 'pxd.portworx.com', volumeHandle: 'p', fsType: 'ext4', volumeAttributes: {} },
    ],
  ] as const) {
    it(`are their CSI driver's: ${Object.keys(source).join()}`, () => {
      const migrated = migratedVolume({ name: 'v', ...source }, 'ns');
      assert.equal(migrated?.metadata?.name, name);
      assert.deepEqual(migrated?.spec?.csi, csi);
      // A claim's has its secret elsewhere.
      if (!('azureFile' in source))
        assert.deepEqual(migratedPersistent({ spec: { ...source, capacity: { storage: '1Gi' } } }).spec, {
          capacity: { storage: '1Gi' },
          csi,
        });
    });
  }

  it('are nothing else where they are of another kind', () => {
    const volume = { metadata: { name: 'pv' }, spec: { nfs: { server: 's', path: '/' } } };
    assert.equal(migratedPersistent(volume), volume);
    assert.equal(migratedVolume({ name: 'v', emptyDir: {} }, 'ns'), undefined);
  });

  it('have their zones from labels, and a region for several', () => {
    const handle = (zone: string): string | undefined =>
      migratedPersistent({
        metadata: { labels: { 'topology.kubernetes.io/zone': zone } },
        spec: { gcePersistentDisk: { pdName: 'd' }, accessModes: ['ReadWriteMany'] },
      }).spec?.csi?.volumeHandle;
    assert.equal(handle('us-central1-a'), 'projects/UNSPECIFIED/zones/us-central1-a/disks/d');
    assert.equal(handle('us-central1-a__us-central1-b'), 'projects/UNSPECIFIED/regions/us-central1/disks/d');
    assert.throws(() => handle('us-central1-a__us-east1-b'), /multiple or no regions/);
  });

  it('of GCE are written to from one node, whatever they say', () => {
    const modes = (...accessModes: string[]): readonly string[] | undefined =>
      migratedPersistent({ spec: { gcePersistentDisk: { pdName: 'd' }, accessModes } }).spec?.accessModes;
    assert.deepEqual(modes('ReadWriteMany'), ['ReadWriteOnce']);
    assert.deepEqual(modes('ReadOnlyMany', 'ReadWriteOnce'), ['ReadWriteOnce']);
    assert.deepEqual(modes('ReadOnlyMany'), ['ReadOnlyMany']);
  });

  it('have the names of Azure secrets from the volume behind a claim', () => {
    const azureFile = { secretName: 's', shareName: 'share', secretNamespace: 'other' };
    const metadata = { name: 'pv', annotations: { 'kubernetes.io/azure-file-resource-group': 'group' } };
    const { csi } = migratedPersistent({ metadata, spec: { azureFile } }).spec ?? {};
    assert.deepEqual([csi?.volumeHandle, csi?.nodeStageSecretRef], ['group#s#share#pv#other', { name: 's', namespace: 'other' }]);
    const ofClaim = { azureFile: { secretName: 's', shareName: 'share' }, claimRef: { namespace: 'ns' } };
    assert.deepEqual(migratedPersistent({ metadata, spec: ofClaim }).spec?.csi?.nodeStageSecretRef, { name: 's', namespace: 'ns' });
    assert.throws(() => migratedPersistent({ metadata, spec: { azureFile: { secretName: 's', shareName: 'share' } } }), {
      message: 'could not find a secret namespace in PersistentVolumeSource or ClaimRef',
    });
  });

  it('of Azure are not those of another namespace: who has no key to a share is not shown what others have staged', () => {
    const share = { name: 'v', azureFile: { secretName: 'azure-storage-account-acc-secret', shareName: 'share' } };
    const [one, other] = ['a', 'b'].map((namespace) => migratedVolume(share, namespace)?.spec?.csi?.volumeHandle);
    assert.notEqual(one, other);
  });

  it('are refused where they cannot be one', () => {
    assert.throws(
      () => migratedVolume({ name: 'v', awsElasticBlockStore: { volumeID: 'aws://zone/disk' } }, 'ns'),
      /Invalid format for AWS volume/,
    );
  });
});
