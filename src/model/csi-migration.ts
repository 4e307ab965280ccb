import type { V1CSIPersistentVolumeSource, V1PersistentVolume, V1PersistentVolumeSpec, V1Volume } from '@kubernetes/client-node';
import type { Wire } from './wire.ts';

type PersistentVolume = Wire<V1PersistentVolume>;
type CsiSource = Wire<V1CSIPersistentVolumeSource>;

/** What pods and persistent volumes alike say of a volume of one of these kinds. */
type InTreeSource = Pick<Wire<V1Volume> | Wire<V1PersistentVolumeSpec>, (typeof kinds)[number]>;

/** What the volume's source does not say itself. */
interface Around {
  /** Of the zones that the volume is in: "us-central1-a", or several with "__" between them. */
  readonly zones: string;
  readonly resourceGroup: string;
  /** What the pod calls the volume, or the persistent volume's name. */
  readonly name: string;
  /** Empty: it is not known. */
  readonly secretNamespace: string;
}

interface Migrated {
  readonly csi: CsiSource;
  /** As it is named where it is a pod's own. */
  readonly name: string;
  readonly accessModes: readonly string[];
}

/** Kinds of volumes that only clouds have, and that are their CSI drivers' by now. */
const kinds = ['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cinder', 'gcePersistentDisk', 'portworxVolume', 'vsphereVolume'] as const;

/**
 * The persistent volume that a pod's own volume of such a kind stands for, as today's kubelets and attach controllers see it
 * (k8s.io/csi-translation-lib). Undefined for all other kinds. Throws where its source cannot be one.
 */
export function migratedVolume({ name: ofPod, ...source }: Wire<V1Volume>, podNamespace: string): PersistentVolume | undefined {
  const migrated = migratedSource(source, { zones: '', resourceGroup: '', name: ofPod, secretNamespace: podNamespace });
  if (migrated === undefined) return undefined;
  const { csi, accessModes } = migrated;
  // A name is one part of a path (EscapeQualifiedName).
  const name = migrated.name.replaceAll('/', '~');
  return { metadata: { name }, spec: { csi, accessModes: [...accessModes], volumeMode: 'Filesystem' } };
}

/** The same of a volume behind a claim; one of another kind is what it is. */
export function migratedPersistent(volume: PersistentVolume): PersistentVolume {
  const { metadata: { name = '', labels = {}, annotations = {} } = {}, spec = {} } = volume;
  const migrated = migratedSource(spec, {
    zones: labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone'] ?? '',
    resourceGroup: annotations['kubernetes.io/azure-file-resource-group'] ?? '',
    name,
    secretNamespace: spec.claimRef?.namespace ?? '',
  });
  if (migrated === undefined) return volume;
  const rest = Object.fromEntries(Object.entries(spec).filter(([key]) => !kinds.some((kind) => kind === key)));
  const accessModes = spec.gcePersistentDisk === undefined ? spec.accessModes : compatibleModes(spec.accessModes);
  return { ...volume, spec: { ...rest, ...(accessModes && { accessModes }), csi: migrated.csi } };
}

function migratedSource(source: Partial<InTreeSource>, around: Around): Migrated | undefined {
  const {
    awsElasticBlockStore: ebs,
    azureDisk,
    azureFile,
    cinder,
    gcePersistentDisk: pd,
    portworxVolume: portworx,
    vsphereVolume,
  } = source;
  if (ebs) {
    const id = ebsVolumeId(ebs.volumeID);
    return once(id, {
      driver: 'ebs.csi.aws.com',
      volumeHandle: id,
      ...common(ebs),
      volumeAttributes: { partition: `${ebs.partition ?? 0}` },
    });
  }
  if (pd) {
    const csi = {
      driver: 'pd.csi.storage.gke.io',
      volumeHandle: pdHandle(pd.pdName, around.zones),
      ...common(pd),
      volumeAttributes: { partition: pd.partition ? `${pd.partition}` : '' },
    };
    return { name: named(csi, pd.pdName), csi, accessModes: [pd.readOnly ? 'ReadOnlyMany' : 'ReadWriteOnce'] };
  }
  if (azureDisk) {
    const { diskName, diskURI, cachingMode, fsType, kind } = azureDisk;
    const volumeAttributes = {
      kind: kind ?? 'Managed',
      'csi-migration': 'true',
      ...(cachingMode && { cachingMode }),
      ...(fsType !== undefined && { fsType }),
    };
    return once(diskName, { driver: 'disk.csi.azure.com', volumeHandle: diskURI, ...common(azureDisk), volumeAttributes });
  }
  if (azureFile) {
    const { secretName, shareName, readOnly } = azureFile;
    const account = /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName;
    const namespace = ('secretNamespace' in azureFile ? azureFile.secretNamespace : undefined) ?? around.secretNamespace;
    if (namespace === '') throw new Error('could not find a secret namespace in PersistentVolumeSource or ClaimRef');
    // A share is staged by the key that is in the namespace: it is another volume in each.
    const volumeHandle = [around.resourceGroup, account, shareName, around.name, namespace].join('#');
    const csi = {
      driver: 'file.csi.azure.com',
      volumeHandle,
      ...common({ readOnly }),
      volumeAttributes: { sharename: shareName },
      nodeStageSecretRef: { name: secretName, namespace },
    };
    return { name: volumeHandle, csi, accessModes: ['ReadWriteMany'] };
  }
  if (cinder) {
    const csi = { driver: 'cinder.csi.openstack.org', volumeHandle: cinder.volumeID, ...common(cinder), volumeAttributes: {} };
    return once(cinder.volumeID, csi);
  }
  if (vsphereVolume) {
    const { volumePath, fsType, storagePolicyName } = vsphereVolume;
    const volumeAttributes = { ...(storagePolicyName && { storagepolicyname: storagePolicyName }) };
    return once(volumePath, { driver: 'csi.vsphere.vmware.com', volumeHandle: volumePath, ...common({ fsType }), volumeAttributes });
  }
  if (portworx) {
    const csi = {
      driver: 'pxd.portworx.com',
      volumeHandle: portworx.volumeID,
      ...common({ fsType: portworx.fsType }),
      volumeAttributes: {},
    };
    return { name: named(csi, portworx.volumeID), csi, accessModes: [portworx.readOnly ? 'ReadOnlyMany' : 'ReadWriteOnce'] };
  }
  return undefined;
}

const named = ({ driver }: CsiSource, id: string): string => `${driver}-${id}`;
const once = (id: string, csi: CsiSource): Migrated => ({ name: named(csi, id), csi, accessModes: ['ReadWriteOnce'] });

const common = ({
  fsType,
  readOnly,
}: {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
}): Pick<CsiSource, 'fsType' | 'readOnly'> => ({ ...(fsType !== undefined && { fsType }), ...(readOnly && { readOnly }) });

/** Of "aws://us-east-1a/vol-1", "aws:///vol-1" or "vol-1". */
function ebsVolumeId(id: string): string {
  if (!id.startsWith('aws://')) return id;
  const [, found] = /^aws:\/\/[^/]*\/+(vol-[^/]*)\/*$/.exec(id) ?? [];
  if (found === undefined) throw new Error(`failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${id})`);
  return found;
}

function pdHandle(name: string, zones: string): string {
  const all = zones.split('__');
  if (all.length === 1) return `projects/UNSPECIFIED/zones/${zones || 'UNSPECIFIED'}/disks/${name}`;
  const [region, ...others] = new Set(all.map((zone) => zone.split('-').slice(0, 2).join('-')));
  if (region === undefined || others.length > 0 || all.some((zone) => zone.split('-').length !== 3))
    throw new Error(`failed to get region from zones: multiple or no regions gotten from zones, got: ${zones}`);
  return `projects/UNSPECIFIED/regions/${region}/disks/${name}`;
}

/** Such a disk was never written to from several nodes, whatever its volume said. */
function compatibleModes(modes: readonly string[] | undefined): string[] | undefined {
  if (modes === undefined) return undefined;
  return modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany') ? ['ReadOnlyMany'] : ['ReadWriteOnce'];
}
