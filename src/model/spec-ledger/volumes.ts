import type {
  V1CSIVolumeSource,
  V1ConfigMapProjection,
  V1ConfigMapVolumeSource,
  V1DownwardAPIProjection,
  V1DownwardAPIVolumeFile,
  V1DownwardAPIVolumeSource,
  V1EmptyDirVolumeSource,
  V1EphemeralVolumeSource,
  V1HostPathVolumeSource,
  V1ImageVolumeSource,
  V1KeyToPath,
  V1LocalObjectReference,
  V1FCVolumeSource,
  V1NFSVolumeSource,
  V1PersistentVolumeClaimVolumeSource,
  V1ProjectedVolumeSource,
  V1SecretProjection,
  V1SecretVolumeSource,
  V1ServiceAccountTokenProjection,
  V1Volume,
  V1VolumeProjection,
} from '@kubernetes/client-node';
import { objectFieldSelector, resourceFieldSelector } from './containers.ts';
import { approximated, type Condition, honoured, honouredBy, refused, section } from './entry.ts';

const noPlugin = refused('the pod waits with FailedMount: this node has no plugin for it');
const byDriver = honouredBy('the CSI driver that has taken its place, where that is registered on the node');
const keyToPath = section<V1KeyToPath>('KeyToPath', { key: honoured, mode: honoured, path: honoured });
const downwardFile = section<V1DownwardAPIVolumeFile>('DownwardAPIVolumeFile', {
  fieldRef: objectFieldSelector,
  mode: honoured,
  path: honoured,
  resourceFieldRef: resourceFieldSelector,
});

const projection = section<V1VolumeProjection>('VolumeProjection', {
  clusterTrustBundle: noPlugin,
  configMap: section<V1ConfigMapProjection>('ConfigMapProjection', { items: keyToPath, name: honoured, optional: honoured }),
  downwardAPI: section<V1DownwardAPIProjection>('DownwardAPIProjection', { items: downwardFile }),
  podCertificate: noPlugin,
  secret: section<V1SecretProjection>('SecretProjection', { items: keyToPath, name: honoured, optional: honoured }),
  serviceAccountToken: section<V1ServiceAccountTokenProjection>('ServiceAccountTokenProjection', {
    audience: honoured,
    expirationSeconds: honoured,
    path: honoured,
  }),
});

/** A limit on disk is for who measures it; in memory the kernel holds it. */
const onDisk: Condition = {
  words: 'has a sizeLimit and no medium',
  holds: (value) => {
    if (typeof value !== 'object' || value === null) return false;
    const { medium, sizeLimit }: { readonly medium?: unknown; readonly sizeLimit?: unknown } = value;
    return sizeLimit !== undefined && medium !== 'Memory';
  },
};

export const volume = section<V1Volume>('Volume', {
  awsElasticBlockStore: byDriver,
  azureDisk: byDriver,
  azureFile: byDriver,
  cephfs: noPlugin,
  cinder: byDriver,
  configMap: section<V1ConfigMapVolumeSource>('ConfigMapVolumeSource', {
    defaultMode: honoured,
    items: keyToPath,
    name: honoured,
    optional: honoured,
  }),
  csi: section<V1CSIVolumeSource>('CSIVolumeSource', {
    driver: honoured,
    fsType: honoured,
    nodePublishSecretRef: section<V1LocalObjectReference>('LocalObjectReference', { name: honoured }),
    readOnly: honoured,
    volumeAttributes: honoured,
  }),
  downwardAPI: section<V1DownwardAPIVolumeSource>('DownwardAPIVolumeSource', { defaultMode: honoured, items: downwardFile }),
  emptyDir: {
    ...section<V1EmptyDirVolumeSource>('EmptyDirVolumeSource', {
      medium: honoured,
      sizeLimit: honoured,
    }),
    also: approximated('a pod of the API server that exceeds it on disk is evicted, within about a minute; a static pod goes on', {
      when: onDisk,
    }),
  },
  ephemeral: section<V1EphemeralVolumeSource>('EphemeralVolumeSource', {
    volumeClaimTemplate: honouredBy('the controller manager, which makes the claim; this node mounts what the claim is bound to'),
  }),
  fc: section<V1FCVolumeSource>('FCVolumeSource', {
    fsType: honoured,
    lun: honoured,
    readOnly: honoured,
    targetWWNs: honoured,
    wwids: honoured,
  }),
  flexVolume: honouredBy('the FlexVolume driver of that name in --volume-plugin-dir'),
  flocker: noPlugin,
  gcePersistentDisk: byDriver,
  gitRepo: noPlugin,
  glusterfs: noPlugin,
  hostPath: section<V1HostPathVolumeSource>('HostPathVolumeSource', { path: honoured, type: honoured }),
  image: section<V1ImageVolumeSource>('ImageVolumeSource', {
    pullPolicy: honoured,
    reference: honouredBy('engines since 28; on older ones this node copies the files into a directory of the pod'),
  }),
  iscsi: honouredBy("the node's own iscsiadm (package open-iscsi or iscsi-initiator-utils)"),
  name: honoured,
  nfs: section<V1NFSVolumeSource>('NFSVolumeSource', { path: honoured, readOnly: honoured, server: honoured }),
  persistentVolumeClaim: section<V1PersistentVolumeClaimVolumeSource>('PersistentVolumeClaimVolumeSource', {
    claimName: honouredBy(
      'this node where the claim is bound to a hostPath, local, nfs, iscsi or fc volume, or one of a CSI driver; else the pod waits with FailedMount',
    ),
    readOnly: honoured,
  }),
  photonPersistentDisk: noPlugin,
  portworxVolume: byDriver,
  projected: section<V1ProjectedVolumeSource>('ProjectedVolumeSource', { defaultMode: honoured, sources: projection }),
  quobyte: noPlugin,
  rbd: noPlugin,
  scaleIO: noPlugin,
  secret: section<V1SecretVolumeSource>('SecretVolumeSource', {
    defaultMode: honoured,
    items: keyToPath,
    optional: honoured,
    secretName: honoured,
  }),
  storageos: noPlugin,
  vsphereVolume: byDriver,
});
