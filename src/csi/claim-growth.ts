import type { JsonObject } from '../base/json-object.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { CsiVolumeTask } from '../ports/csi-volumes.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../ports/claim-reader.ts';

/** What says that a claim is being made larger (pkg/volume/util resizing.go). */
const RESIZING: ReadonlySet<string> = new Set(['Resizing', 'FileSystemResizePending']);

/** The patch of a claim's status by which all know that it has grown (MarkFSResizeFinished). A merge patch. */
export function grownClaim({ spec }: PersistentVolume, { metadata, status }: PersistentVolumeClaim): JsonObject {
  return {
    metadata: { resourceVersion: metadata?.resourceVersion },
    status: {
      capacity: { storage: spec?.capacity?.['storage'] },
      conditions: (status?.conditions ?? []).filter(({ type }) => !RESIZING.has(type)),
      ...(status?.allocatedResourceStatuses?.['storage'] !== undefined && { allocatedResourceStatuses: { storage: null } }),
    },
  };
}

/** Tells the cluster. */
export async function tellGrown({ source }: CsiVolumeTask, api: Pick<KubeApi, 'request'>, signal: AbortSignal): Promise<void> {
  if ('inline' in source) return;
  const { namespace, name } = source.claim.metadata ?? {};
  const path = `/api/v1/namespaces/${namespace ?? ''}/persistentvolumeclaims/${name ?? ''}/status`;
  const body = grownClaim(source.persistent, source.claim);
  await api.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body }, signal);
}
