import type { V1DownwardAPIVolumeFile, V1Volume, V1VolumeProjection } from '@kubernetes/client-node';
import { defaultImagePullPolicy } from '../image-name.ts';
import type { Wire } from '../wire.ts';
import { defaultFieldRef, roundUpToMilli } from './default-values.ts';

type Volume = Wire<V1Volume>;
type Source = Exclude<keyof Volume, 'name'>;
type SourceDefaults = { readonly [K in Source]?: Partial<NonNullable<Volume[K]>> };

const fileMode = { defaultMode: 0o644 };
/** What a source gets where it says nothing (pkg/apis/core/v1/defaults.go). */
const sourceDefaults: SourceDefaults = {
  hostPath: { type: '' },
  secret: fileMode,
  configMap: fileMode,
  downwardAPI: fileMode,
  projected: fileMode,
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};
const sourceDefaultEntries = Object.entries(sourceDefaults);
const tokenSeconds = 3600;

function withSourceDefaults(volume: Volume): Volume {
  const filled: Record<string, unknown> = { ...volume };
  for (const [name, defaults] of sourceDefaultEntries) {
    const source = filled[name];
    if (typeof source === 'object') filled[name] = { ...defaults, ...source };
  }
  return { ...filled, name: volume.name };
}

const defaultFile = (file: Wire<V1DownwardAPIVolumeFile>): Wire<V1DownwardAPIVolumeFile> =>
  file.fieldRef === undefined ? file : { ...file, fieldRef: defaultFieldRef(file.fieldRef) };

function defaultProjection(projection: Wire<V1VolumeProjection>): Wire<V1VolumeProjection> {
  const { downwardAPI, serviceAccountToken } = projection;
  return {
    ...projection,
    ...(downwardAPI?.items !== undefined && { downwardAPI: { ...downwardAPI, items: downwardAPI.items.map(defaultFile) } }),
    ...(serviceAccountToken !== undefined && { serviceAccountToken: { expirationSeconds: tokenSeconds, ...serviceAccountToken } }),
  };
}

function defaultClaimTemplate(template: NonNullable<NonNullable<Volume['ephemeral']>['volumeClaimTemplate']>): typeof template {
  const resources = template.spec?.resources;
  const { limits, requests } = resources ?? {};
  return {
    ...template,
    spec: {
      volumeMode: 'Filesystem',
      ...template.spec,
      ...(resources !== undefined && {
        resources: {
          ...resources,
          ...(limits !== undefined && { limits: roundUpToMilli(limits) }),
          ...(requests !== undefined && { requests: roundUpToMilli(requests) }),
        },
      }),
    },
  };
}

/** A volume without a source is an empty directory. */
export function defaultVolume(volume: Volume): Volume {
  if (Object.keys(volume).every((key) => key === 'name')) return { ...volume, emptyDir: {} };
  const filled = withSourceDefaults(volume);
  const { downwardAPI, projected, ephemeral, image } = filled;
  return {
    ...filled,
    ...(downwardAPI?.items !== undefined && { downwardAPI: { ...downwardAPI, items: downwardAPI.items.map(defaultFile) } }),
    ...(projected?.sources !== undefined && { projected: { ...projected, sources: projected.sources.map(defaultProjection) } }),
    ...(ephemeral?.volumeClaimTemplate !== undefined && {
      ephemeral: { ...ephemeral, volumeClaimTemplate: defaultClaimTemplate(ephemeral.volumeClaimTemplate) },
    }),
    ...(image !== undefined && { image: { pullPolicy: defaultImagePullPolicy(image.reference ?? ''), ...image } }),
  };
}
