import type { Container, PodSpec } from '../model/pod.ts';

export interface ApiReference {
  /** The path of the reference. */
  readonly field: string;
  /** Plural, as in the API's URLs. */
  readonly resource:
    | 'serviceaccounts'
    | 'secrets'
    | 'configmaps'
    | 'persistentvolumeclaims'
    | 'resourceclaims'
    | 'clustertrustbundles'
    | 'csidrivers (via CSI volumes)'
    | 'endpoints (via glusterFS volumes)'
    | 'podcertificates';
  /** A manifest directory may hold what is meant: a ConfigMap or Secret of the environment, of a volume's files, or a pull secret. */
  readonly inManifests: boolean;
}

/**
 * What a pod wants from the API server. A static pod may want nothing of it: its mirror pod would be refused (NodeRestriction admission), so
 * that the node would not be allowed to read it. Newer kubelets do not start such a pod (pkg/api/pod/util.go HasAPIObjectReference).
 */
export function apiReferences(spec: PodSpec): readonly ApiReference[] {
  const found: ApiReference[] = [];
  const add = (resource: ApiReference['resource'], field: string, present: unknown): void => {
    if (present !== undefined && present !== '') found.push({ field, resource, inManifests: false });
  };
  const addFiles = (resource: 'configmaps' | 'secrets', field: string, present: unknown): void => {
    if (present !== undefined) found.push({ field, resource, inManifests: true });
  };
  add('serviceaccounts', 'spec.serviceAccountName', spec.serviceAccountName);
  for (const i of (spec.imagePullSecrets ?? []).keys()) addFiles('secrets', `spec.imagePullSecrets[${i}]`, true);
  for (const i of (spec.resourceClaims ?? []).keys()) add('resourceclaims', `spec.resourceClaims[${i}]`, true);
  visitContainers(spec.initContainers, 'spec.initContainers', addFiles);
  visitContainers(spec.containers, 'spec.containers', addFiles);
  for (const [i, volume] of (spec.volumes ?? []).entries()) {
    const at = `spec.volumes[${i}]`;
    addFiles('configmaps', `${at}.configMap`, volume.configMap);
    addFiles('secrets', `${at}.secret`, volume.secret);
    add('persistentvolumeclaims', `${at}.persistentVolumeClaim`, volume.persistentVolumeClaim);
    add('persistentvolumeclaims', `${at}.ephemeral`, volume.ephemeral);
    add('secrets', `${at}.azureFile.secretName`, volume.azureFile?.secretName);
    add('secrets', `${at}.cephfs.secretRef`, volume.cephfs?.secretRef);
    add('secrets', `${at}.cinder.secretRef`, volume.cinder?.secretRef);
    add('secrets', `${at}.flexVolume.secretRef`, volume.flexVolume?.secretRef);
    add('secrets', `${at}.rbd.secretRef`, volume.rbd?.secretRef);
    add('secrets', `${at}.scaleIO.secretRef`, volume.scaleIO?.secretRef);
    add('secrets', `${at}.iscsi.secretRef`, volume.iscsi?.secretRef);
    add('secrets', `${at}.storageos.secretRef`, volume.storageos?.secretRef);
    add('endpoints (via glusterFS volumes)', `${at}.glusterfs`, volume.glusterfs);
    add('csidrivers (via CSI volumes)', `${at}.csi`, volume.csi);
    add('secrets', `${at}.csi.nodePublishSecretRef`, volume.csi?.nodePublishSecretRef);
    for (const [j, source] of (volume.projected?.sources ?? []).entries()) {
      const sourceAt = `${at}.projected.sources[${j}]`;
      addFiles('configmaps', `${sourceAt}.configMap`, source.configMap);
      addFiles('secrets', `${sourceAt}.secret`, source.secret);
      add('serviceaccounts', `${sourceAt}.serviceAccountToken`, source.serviceAccountToken);
      add('clustertrustbundles', `${sourceAt}.clusterTrustBundle`, source.clusterTrustBundle);
      add('podcertificates', `${sourceAt}.podCertificate`, source.podCertificate);
    }
  }
  return found;
}

function visitContainers(
  containers: readonly Container[] | undefined,
  path: string,
  add: (resource: 'configmaps' | 'secrets', field: string, present: unknown) => void,
): void {
  for (const [i, container] of (containers ?? []).entries()) {
    for (const [j, source] of (container.envFrom ?? []).entries()) {
      add('configmaps', `${path}[${i}].envFrom[${j}].configMapRef`, source.configMapRef);
      add('secrets', `${path}[${i}].envFrom[${j}].secretRef`, source.secretRef);
    }
    for (const [j, { valueFrom }] of (container.env ?? []).entries()) {
      add('configmaps', `${path}[${i}].env[${j}].valueFrom.configMapKeyRef`, valueFrom?.configMapKeyRef);
      add('secrets', `${path}[${i}].env[${j}].valueFrom.secretKeyRef`, valueFrom?.secretKeyRef);
    }
  }
}

const consequences: Readonly<Record<ApiReference['resource'], string>> = {
  serviceaccounts: 'its token would not be mounted and its mirror pod would be refused',
  secrets: 'the node may not read it, and the mirror pod would be refused',
  configmaps: 'the node may not read it, and the mirror pod would be refused',
  persistentvolumeclaims: 'the node may not read it, and the mirror pod would be refused',
  resourceclaims: 'the node may not read it',
  clustertrustbundles: 'the node may not read it',
  'csidrivers (via CSI volumes)': 'the node may not read it',
  'endpoints (via glusterFS volumes)': 'the node may not read it',
  podcertificates: 'no certificate would be issued to it',
};

/** Why the reference is refused. */
export const explainApiReference = ({ resource }: ApiReference): string =>
  `static pods may not reference ${resource}: ${consequences[resource]}`;
