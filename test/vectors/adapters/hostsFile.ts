import type { PodSpec } from '../../../src/model/pod.ts';
import { hostNetworkHostsFile, managedHostsFile } from '../../../src/network/hosts-file.ts';
import { readTextFile } from '../../../src/base/read-text-file.ts';

interface Input {
  readonly hostNetwork?: boolean;
  readonly podIPs?: readonly string[];
  readonly hostName?: string;
  readonly hostDomainName?: string;
  readonly hostAliases?: PodSpec['hostAliases'];
  readonly nodeFile?: string;
}

export async function run({ hostNetwork, podIPs, hostName, hostDomainName, hostAliases, nodeFile }: Input): Promise<object> {
  try {
    const content = hostNetwork
      ? hostNetworkHostsFile(nodeFile ?? (await readTextFile('/nonexistent/hosts')), hostAliases ?? undefined)
      : managedHostsFile(podIPs ?? [], { hostname: hostName ?? '', domain: hostDomainName ?? '' }, hostAliases ?? undefined);
    return { content };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
