import { isIPv6 } from 'node:net';
import { quote } from '../model/go-text.ts';
import { formatPod, type Pod } from '../model/pod.ts';
import type { DnsConfig } from '../model/resolv-conf.ts';
import type { EventReason } from '../ports/event-recorder.ts';

export interface DnsSettings {
  /** --cluster-dns, as goIp writes them. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** --resolv-conf is not empty: what the node's file says counts. */
  readonly usesNodeFile: boolean;
  readonly nodeIps: readonly string[];
}

/** A warning to record, about the pod or about the node. */
export interface DnsWarning {
  readonly about: 'pod' | 'node';
  readonly reason: Extract<EventReason, 'DNSConfigForming' | 'MissingClusterDNS' | 'CheckLimitsForResolvConf'>;
  readonly message: string;
}

/** What resolvers take (pkg/apis/core/validation MaxDNSNameservers, MaxDNSSearchPaths, MaxDNSSearchListChars). */
const MAX_SERVERS = 3;
const MAX_SEARCHES = 6;
const MAX_SEARCH_CHARS = 256;
/** pkg/kubelet/network/dns defaultDNSOptions */
const clusterOptions = ['ndots:5'];

const missingClusterDns =
  'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';

/** How a pod resolves names, by its dnsPolicy and dnsConfig; `node` is what the node's own file says (pkg/kubelet/network/dns GetPodDNS). */
export function podDns(
  pod: Pod,
  settings: DnsSettings,
  node: DnsConfig,
): { readonly dns: DnsConfig; readonly warnings: readonly DnsWarning[] } {
  const warnings: DnsWarning[] = [];
  const warn = (reason: DnsWarning['reason'], message: string, about: DnsWarning['about'] = 'pod'): void => {
    warnings.push({ about, reason, message });
  };
  const base = (): DnsConfig => {
    const kind = dnsKind(pod);
    if (kind === 'none') return { servers: [], searches: [], options: [] };
    if (kind === 'cluster' && settings.clusterDns.length > 0) {
      return { servers: settings.clusterDns, searches: clusterSearches(pod, settings, node), options: clusterOptions };
    }
    if (kind === 'cluster') {
      warn('MissingClusterDNS', missingClusterDns, 'node');
      warn('MissingClusterDNS', `pod: ${quote(formatPod(pod))}. ${missingClusterDns}`);
    }
    if (settings.usesNodeFile) return node;
    // Without a file there are no name servers to ask: that is what resolvers make of the local machine.
    const local = settings.nodeIps.map((ip) => (isIPv6(ip) ? '::1' : '127.0.0.1'));
    return { ...node, servers: [...node.servers, ...(local.length > 0 ? local : ['127.0.0.1'])], searches: ['.'] };
  };
  return { dns: withinLimits(merged(base(), pod.spec.dnsConfig), warn), warnings };
}

/** What is wrong with the node's own file for pods, once the cluster's three domains come before it (CheckLimitsForResolvConf). */
export function nodeFileWarning(path: string, clusterDomain: string, { searches }: DnsConfig): string | undefined {
  const limit = clusterDomain === '' ? MAX_SEARCHES : MAX_SEARCHES - 3;
  if (searches.length > limit) return `Resolv.conf file '${path}' contains search line consisting of more than ${limit} domains!`;
  if (Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_CHARS) {
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${MAX_SEARCH_CHARS} chars!`;
  }
  return undefined;
}

/** What the API server would have refused counts as ClusterFirst. */
function dnsKind({ spec }: Pod): 'none' | 'cluster' | 'node' {
  if (spec.dnsPolicy === 'None') return 'none';
  if (spec.dnsPolicy === 'Default' || (spec.dnsPolicy === 'ClusterFirst' && spec.hostNetwork)) return 'node';
  return 'cluster';
}

function clusterSearches({ metadata }: Pod, { clusterDomain }: DnsSettings, node: DnsConfig): readonly string[] {
  if (clusterDomain === '') return node.searches;
  return unique([`${metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain, ...node.searches]);
}

/** The pod's own wishes come after the others; its options win over those of the same name. */
function merged(base: DnsConfig, own: Pod['spec']['dnsConfig']): DnsConfig {
  if (!own) return base;
  const options = new Map(
    base.options.map((option) => {
      const at = option.indexOf(':');
      return at < 0 ? ([option, ''] as const) : ([option.slice(0, at), option.slice(at + 1)] as const);
    }),
  );
  for (const { name = '', value } of own.options ?? []) options.set(name, value ?? '');
  return {
    servers: unique([...base.servers, ...(own.nameservers ?? [])]),
    searches: unique([...base.searches, ...(own.searches ?? [])]),
    options: [...options].map(([name, value]) => (value === '' ? name : `${name}:${value}`)),
  };
}

function withinLimits(dns: DnsConfig, warn: (reason: 'DNSConfigForming', message: string) => void): DnsConfig {
  const servers = dns.servers.slice(0, MAX_SERVERS);
  if (servers.length < dns.servers.length) {
    const applied = servers.join(' ');
    warn(
      'DNSConfigForming',
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${applied}`,
    );
  }
  let searches = dns.searches.slice(0, MAX_SEARCHES);
  while (searches.length > 0 && Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_CHARS) searches = searches.slice(0, -1);
  if (searches.length < dns.searches.length) {
    const applied = searches.join(' ');
    warn(
      'DNSConfigForming',
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${applied}`,
    );
  }
  return { ...dns, servers, searches };
}

const unique = (values: readonly string[]): readonly string[] => [...new Set(values)];
