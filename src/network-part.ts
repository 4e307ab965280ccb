import type { Logger } from './base/logger.ts';
import { type PodNetwork, podNetwork } from './network/pod-network.ts';
import { hostIps } from './node/host-ips.ts';
import { parseNodeIps } from './node/ip-address.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { EventRecorder } from './ports/event-recorder.ts';

export interface NetworkPartDeps {
  /** Without a cluster nobody misses its name servers. */
  readonly inCluster: boolean;
  readonly events: EventRecorder;
  readonly log: Logger;
}

export interface NetworkPart {
  /** The node's addresses, primary first. */
  readonly nodeIps: readonly string[];
  readonly network: PodNetwork;
}

/** What pods see of the node's network, which is looked at once. */
export async function networkPart(options: KubeletOptions, deps: NetworkPartDeps): Promise<NetworkPart> {
  const { rootDir, nodeName, nodeIp, clusterDns, clusterDomain, resolvConf } = options;
  const nodeIps = hostIps(parseNodeIps(nodeIp));
  const network = podNetwork({ rootDir, nodeName, nodeIps, clusterDns, clusterDomain, resolvConf, ...deps });
  await network.checkNodeFile();
  return { nodeIps, network };
}
