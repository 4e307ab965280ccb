import type { KubeletOptions } from './options/kubelet-options.ts';
import type { Capability } from './ports/capability.ts';

const always = (): boolean => true;
const serves = ({ runOnce }: KubeletOptions): boolean => !runOnce;
const delaysShutdown = (options: KubeletOptions): boolean =>
  serves(options) && (options.shutdownGracePeriodMs > 0 || options.shutdownGracePeriodByPodPriority.length > 0);
const traces = ({ tracingEndpoint, tracingSamplingRatePerMillion }: KubeletOptions): boolean =>
  tracingEndpoint !== undefined || tracingSamplingRatePerMillion !== undefined;
// A recording has the options once.
const hasConfigFiles = (options: KubeletOptions): boolean =>
  serves(options) && options.recordFile === '' && (options.configFile !== '' || options.configDirectory !== '');
const hasDynamicConfig = (options: KubeletOptions): boolean =>
  inCluster(options) && serves(options) && options.recordFile === '' && options.dynamicConfigDir !== '';
const inCluster = ({ kubeconfig }: KubeletOptions): boolean => kubeconfig !== '';

/** What the agent can do, a folder each. Their order is the order in pods' lives: of admission, preparing and additions; release goes backwards. */
export const capabilities: readonly Capability[] = [
  { name: 'tracing', wanted: traces, load: () => import('./tracing/capability.ts') },
  { name: 'explain', wanted: serves, load: () => import('./explain/capability.ts') },
  { name: 'plan', wanted: serves, load: () => import('./agent/plan-capability.ts') },
  { name: 'metrics', wanted: serves, load: () => import('./metrics/capability.ts') },
  { name: 'sources', wanted: always, load: () => import('./sources/capability.ts') },
  { name: 'images', wanted: always, load: () => import('./images/capability.ts') },
  { name: 'eviction', wanted: serves, load: () => import('./eviction/capability.ts') },
  { name: 'cgroups', wanted: always, load: () => import('./cgroups/capability.ts') },
  { name: 'topology', wanted: always, load: () => import('./topology/capability.ts') },
  { name: 'deviceplugins', wanted: serves, load: () => import('./deviceplugins/capability.ts') },
  { name: 'node', wanted: always, load: () => import('./node/capability.ts') },
  { name: 'objects', wanted: always, load: () => import('./objects/capability.ts') },
  { name: 'plugins', wanted: serves, load: () => import('./plugins/capability.ts') },
  { name: 'csi', wanted: always, load: () => import('./csi/capability.ts') },
  { name: 'dra', wanted: always, load: () => import('./dra/capability.ts') },
  { name: 'volumes', wanted: always, load: () => import('./volumes/capability.ts') },
  { name: 'network', wanted: always, load: () => import('./network/capability.ts') },
  { name: 'usernamespaces', wanted: always, load: () => import('./usernamespaces/capability.ts') },
  { name: 'runtimeclasses', wanted: always, load: () => import('./runtimeclasses/capability.ts') },
  { name: 'memory', wanted: always, load: () => import('./memory/capability.ts') },
  { name: 'probes', wanted: always, load: () => import('./probes/capability.ts') },
  { name: 'mirror', wanted: inCluster, load: () => import('./mirror/capability.ts') },
  { name: 'stats', wanted: serves, load: () => import('./stats/capability.ts') },
  { name: 'systemoom', wanted: serves, load: () => import('./systemoom/capability.ts') },
  { name: 'shutdown', wanted: delaysShutdown, load: () => import('./shutdown/capability.ts') },
  { name: 'garbage', wanted: serves, load: () => import('./garbage/capability.ts') },
  { name: 'timeline', wanted: serves, load: () => import('./timeline/capability.ts') },
  { name: 'configuration', wanted: hasConfigFiles, load: () => import('./configuration/capability.ts') },
  { name: 'dynamicconfig', wanted: hasDynamicConfig, load: () => import('./dynamicconfig/capability.ts') },
  { name: 'page', wanted: serves, load: () => import('./page/capability.ts') },
  { name: 'podresources', wanted: serves, load: () => import('./podresources/capability.ts') },
  { name: 'server', wanted: serves, load: () => import('./server/capability.ts') },
];
