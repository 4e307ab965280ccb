import { grownClaimRequest } from '../model/claim-growth.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { CsiVolumeTask } from '../ports/csi-volumes.ts';

/** Tells the cluster that a volume has grown. */
export async function tellGrown({ source }: CsiVolumeTask, api: Pick<KubeApi, 'request'>, signal: AbortSignal): Promise<void> {
  if (!('inline' in source)) await api.request(grownClaimRequest(source.persistent, source.claim), signal);
}
