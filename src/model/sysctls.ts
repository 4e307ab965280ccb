import type { Pod } from './pod.ts';

/** Those that each pod has for itself and that harm no other (pkg/kubelet/sysctl; those after the first four came with later releases). */
const safeSysctls: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
];

const namespaced: readonly (readonly [RegExp, 'ipc' | 'net'])[] = [
  [/^kernel\.(sem$|shm|msg)/, 'ipc'],
  [/^fs\.mqueue\./, 'ipc'],
  [/^net\./, 'net'],
];

/** The kernel namespace that a sysctl belongs to, so that pods may differ in it; undefined: the whole machine's (pkg/kubelet/sysctl NamespacedBy). */
function namespaceOf(sysctl: string): 'ipc' | 'net' | undefined {
  return namespaced.find(([form]) => form.test(sysctl))?.[1];
}

const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const patternForm = `(${segment}\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]`;
const MAX_LENGTH = 253;

/** Why text is no sysctl, or group of them that ends in "*", that pods can be allowed; undefined: it is. In the kubelet's words. */
export function sysctlPatternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_LENGTH || !new RegExp(`^${patternForm}$`).test(pattern)) {
    return `sysctl ${JSON.stringify(pattern)} must have at most ${MAX_LENGTH} characters and match regex ${patternForm}`;
  }
  if (namespaceOf(pattern.replace(/\*$/, '')) !== undefined) return undefined;
  return `the sysctl${pattern.endsWith('*') ? 's' : ''} ${JSON.stringify(pattern)} are not known to be namespaced`;
}

/** With dots between its parts: "net/ipv4/x.y" is "net.ipv4.x/y" (sysctl.d(5)). */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}

/** Why the pod's sysctls cannot be had: one neither safe nor allowed, or of a namespace that is the node's (pkg/kubelet/sysctl). Names the field. */
export function forbiddenSysctl({ spec }: Pick<Pod, 'spec'>, allowedUnsafe: readonly string[]): string | undefined {
  for (const [i, { name }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const why = sysctlFault(dottedSysctl(name), allowedUnsafe, spec);
    if (why !== undefined) return `forbidden sysctl: ${JSON.stringify(name)} ${why} (spec.securityContext.sysctls[${i}].name)`;
  }
  return undefined;
}

function sysctlFault(name: string, allowedUnsafe: readonly string[], { hostNetwork, hostIPC }: Pod['spec']): string | undefined {
  const allowed = [...safeSysctls, ...allowedUnsafe].find((pattern) => matches(name, pattern));
  if (allowed === undefined) return 'not whitelisted';
  const namespace = namespaceOf(allowed.replace(/\*$/, ''));
  const isHosts = (namespace === 'ipc' && hostIPC) || (namespace === 'net' && hostNetwork);
  return isHosts ? `not allowed with host ${namespace} enabled` : undefined;
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
