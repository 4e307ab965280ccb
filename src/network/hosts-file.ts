import type { PodSpec } from '../model/pod.ts';
import type { PodHostname } from './pod-hostname.ts';

type HostAliases = PodSpec['hostAliases'];

/** What every managed file begins with: the format that clients look for, and the loopback and multicast names (pkg/kubelet managedHostsFileContent). */
const managedHead = [
  '# Kubernetes-managed hosts file.',
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** /etc/hosts of a pod with a network of its own. */
export function managedHostsFile(podIps: readonly string[], { hostname, domain }: PodHostname, aliases: HostAliases): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  const lines = [...managedHead, ...podIps.map((ip) => `${ip}\t${names}`)];
  return `${lines.join('\n')}\n${aliasEntries(aliases)}`;
}

/** /etc/hosts of a pod on the node's network: the node's own, and the pod's aliases. */
export function hostNetworkHostsFile(nodeFile: string, aliases: HostAliases): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeFile}${aliasEntries(aliases)}`;
}

function aliasEntries(aliases: HostAliases): string {
  if (!aliases?.length) return '';
  const lines = aliases.map(({ ip, hostnames }) => `${ip ?? ''}\t${(hostnames ?? []).join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
