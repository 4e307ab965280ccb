import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { JsonObject } from '../base/json-object.ts';
import { Quantity } from './quantity.ts';
import type { Wire } from './wire.ts';

type PersistentVolume = Wire<V1PersistentVolume>;
type PersistentVolumeClaim = Wire<V1PersistentVolumeClaim>;

/** What says that a claim is being made larger (pkg/volume/util resizing.go). */
const RESIZING: ReadonlySet<string> = new Set(['Resizing', 'FileSystemResizePending']);

/** The patch of a claim's status by which all know that it has grown (MarkFSResizeFinished). A merge patch. */
function grownClaim({ spec }: PersistentVolume, { metadata, status }: PersistentVolumeClaim): JsonObject {
  return {
    metadata: { resourceVersion: metadata?.resourceVersion },
    status: {
      capacity: { storage: spec?.capacity?.['storage'] },
      conditions: (status?.conditions ?? []).filter(({ type }) => !RESIZING.has(type)),
      ...(status?.allocatedResourceStatuses?.['storage'] !== undefined && { allocatedResourceStatuses: { storage: null } }),
    },
  };
}

/** The request that tells the cluster. */
export function grownClaimRequest(volume: PersistentVolume, claim: PersistentVolumeClaim) {
  const { namespace = '', name = '' } = claim.metadata ?? {};
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}/status`;
  return { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: grownClaim(volume, claim) } as const;
}

/** Whether the claim is to have more than its status says that it has. */
export function asksForMore({ spec, status }: PersistentVolumeClaim): boolean {
  return isMore(spec?.resources?.requests?.['storage'], status?.capacity?.['storage']);
}

/** Whether the volume has more than its claim's status says. */
export function hasMore({ spec }: PersistentVolume, { status }: PersistentVolumeClaim): boolean {
  return isMore(spec?.capacity?.['storage'], status?.capacity?.['storage']);
}

const isMore = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && Quantity.fromJson(a).cmp(Quantity.fromJson(b)) > 0;
