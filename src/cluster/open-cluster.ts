import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Ground } from '../ports/node-parts.ts';
import { noCluster } from './no-cluster.ts';

/** The cluster of --kubeconfig; without one, none. Reads the kubeconfig, and rejects with an error for people where it cannot work. */
export async function openCluster(
  options: KubeletOptions,
  ground: Pick<Ground, 'live' | 'clock' | 'log' | 'tell' | 'tracing' | 'random'>,
): Promise<Cluster> {
  if (options.kubeconfig === '') return noCluster(options, ground);
  const { apiCluster } = await import('./api-cluster.ts');
  return apiCluster(options, ground);
}
