import { oneOf, string, strings } from '../kinds.ts';
import { type Kind, option } from '../option.ts';

const networkPlugin: Kind<'' | 'cni'> = { ...oneOf(['cni', '']), name: 'cni', expected: 'cni, or nothing' };

/** The pods' network, and how pods resolve names. */
export const networkOptions = {
  networkPlugin: option<'' | 'cni'>({
    flag: 'network-plugin',
    formerField: 'networkPluginName',
    kind: networkPlugin,
    default: '',
    defaultText: "none: the engine's own bridge",
    group: 'Network',
    help: 'Who connects pods: cni, or nothing for the engine itself. The kubelet also has kubenet.',
  }),
  podCidr: option<string>({
    flag: 'pod-cidr',
    config: 'podCIDR',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'Network',
    help: 'Without an API server: the range that pods get their addresses from, as a runtime that speaks CRI hears of it. With an API server it hears what that gives the node.',
  }),
  cniConfDir: option<string>({
    flag: 'cni-conf-dir',
    formerFlags: ['network-plugin-dir'],
    formerField: 'networkPluginDir',
    kind: string,
    default: '/etc/cni/net.d',
    group: 'Network',
    help: 'The directory of CNI configurations. The first by name that is valid counts; it is read again when it changes.',
  }),
  cniBinDir: option<string>({
    flag: 'cni-bin-dir',
    kind: string,
    default: '/opt/cni/bin',
    group: 'Network',
    help: 'Directories of CNI plugins, separated by commas.',
  }),
  cniCacheDir: option<string>({
    flag: 'cni-cache-dir',
    kind: string,
    default: '/var/lib/cni/cache',
    group: 'Network',
    help: 'The directory where results of CNI plugins are kept.',
  }),
  clusterDns: option<readonly string[]>({
    flag: 'cluster-dns',
    config: 'clusterDNS',
    kind: strings,
    default: [],
    defaultText: 'none',
    group: 'Network',
    help: 'Addresses of the name servers of pods whose dnsPolicy is ClusterFirst, comma-separated. May be repeated.',
  }),
  clusterDomain: option<string>({
    flag: 'cluster-domain',
    config: 'clusterDomain',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'Network',
    help: "The cluster's DNS domain: pods search its domains before the node's.",
  }),
  resolvConf: option<string>({
    flag: 'resolv-conf',
    config: 'resolvConf',
    kind: string,
    default: '/etc/resolv.conf',
    group: 'Network',
    path: true,
    help: "The node's resolver configuration, which pods build on. Where /etc/resolv.conf names only the stub of systemd-resolved, the servers behind it count. Empty: none.",
  }),
} as const;
