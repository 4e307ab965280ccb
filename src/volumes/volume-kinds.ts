import { configMapPayload } from './config-map-volume.ts';
import { csiVolume } from './csi-volume.ts';
import { downwardApiPayload } from './downward-api-volume.ts';
import { emptyDirVolume } from './empty-dir-volume.ts';
import { fcVolume } from './fc-volume.ts';
import { flexVolume } from './flex-volume.ts';
import { hostPathVolume } from './host-path-volume.ts';
import { imageVolume } from './image-volume.ts';
import { iscsiVolume } from './iscsi-volume.ts';
import { localVolume } from './local-volume.ts';
import { nfsVolume } from './nfs-volume.ts';
import { payloadVolume } from './payload-volume.ts';
import { projectedPayload } from './projected-volume.ts';
import { secretPayload } from './secret-volume.ts';
import type { KindOf, VolumeKind, VolumeSource } from './volume-kind.ts';

/** Every kind of volume that there is; what is secret or may be stays off the disk. */
const kinds: readonly KindOf[] = [
  emptyDirVolume,
  hostPathVolume,
  payloadVolume('configMap', configMapPayload, { plugin: 'kubernetes.io~configmap', inMemory: false }),
  payloadVolume('secret', secretPayload, { plugin: 'kubernetes.io~secret', inMemory: true }),
  payloadVolume('downwardAPI', downwardApiPayload, { plugin: 'kubernetes.io~downward-api', inMemory: true }),
  payloadVolume('projected', projectedPayload, { plugin: 'kubernetes.io~projected', inMemory: true }),
  nfsVolume,
  localVolume,
  csiVolume,
  flexVolume,
  iscsiVolume,
  fcVolume,
  imageVolume,
];

/** Undefined for a kind that is not supported. */
export function kindOf(source: VolumeSource): VolumeKind | undefined {
  for (const kind of kinds) {
    const found = kind(source);
    if (found !== undefined) return found;
  }
  return undefined;
}
