import { quote } from '../model/go-text.ts';
import { kernelHostname } from '../model/kernel-hostname.ts';
import type { Pod } from '../model/pod.ts';
import { isDns1123Label, isDns1123Subdomain } from '../model/validation/formats.ts';

/** Linux' limit for a host name (pkg/kubelet truncatePodHostnameIfNeeded). */
const HOSTNAME_MAX = 63;

export interface PodHostname {
  readonly hostname: string;
  /** "SUBDOMAIN.NAMESPACE.svc.CLUSTERDOMAIN", or empty where the pod has no subdomain. */
  readonly domain: string;
}

/** The pod's names for its own addresses. Throws in the kubelet's words (pkg/kubelet GeneratePodHostNameAndDomain). */
export function podHostname({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>, clusterDomain: string): PodHostname {
  const { hostname: asked, hostnameOverride, subdomain } = spec;
  // In place of all others, whatever they say: it has no domain but the one that is written in it.
  if (hostnameOverride !== undefined) {
    demand('HostnameOverride', hostnameOverride, 'DNS subdomain', isDns1123Subdomain);
    return { hostname: truncated(metadata.name, hostnameOverride), domain: '' };
  }
  if (asked) demand('Hostname', asked, 'DNS label', isDns1123Label);
  const hostname = truncated(metadata.name, asked || metadata.name);
  if (subdomain) demand('Subdomain', subdomain, 'DNS label', isDns1123Label);
  return { hostname, domain: subdomain ? `${subdomain}.${metadata.namespace}.svc.${clusterDomain}` : '' };
}

/** What `hostname` prints inside the pod; undefined under hostNetwork, where the node's own name applies. */
export function sandboxHostname(pod: Pick<Pod, 'metadata' | 'spec'>, clusterDomain: string): string | undefined {
  if (pod.spec.hostNetwork) return undefined;
  const { hostname, domain } = podHostname(pod, clusterDomain);
  return kernelHostname(hostname, domain, pod.spec.setHostnameAsFQDN);
}

function demand(field: string, value: string, form: string, faultsOf: (value: string) => readonly string[]): void {
  const faults = faultsOf(value);
  if (faults.length > 0) throw new Error(`pod ${field} ${quote(value)} is not a valid ${form}: ${faults.join(';')}`);
}

function truncated(podName: string, hostname: string): string {
  if (hostname.length <= HOSTNAME_MAX) return hostname;
  const cut = hostname.slice(0, HOSTNAME_MAX).replace(/[-.]+$/, '');
  if (cut === '') throw new Error(`hostname for pod ${quote(podName)} was invalid: ${quote(hostname)}`);
  return cut;
}
