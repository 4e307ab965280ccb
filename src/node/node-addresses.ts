import type { NodeAddress } from '../model/node.ts';
import { type IpAddress, isUnspecified, parseIp } from './ip-address.ts';

export interface AddressFacts {
  readonly nodeName: string;
  /** --node-ip. An unspecified address, 0.0.0.0 or ::, only chooses the family. */
  readonly nodeIps: readonly IpAddress[];
  readonly hostname: string;
  readonly externalCloudProvider: boolean;
  /** What the node's name resolves to. */
  readonly byName: readonly string[];
  /** Addresses of the interfaces that the default routes leave by, in their order. */
  readonly byDefaultRoute: readonly string[];
  /** Why an address cannot be the node's. */
  readonly fault: (ip: IpAddress) => string | undefined;
}

export interface AddressResult {
  /** Undefined: leave those that the node has. */
  readonly addresses?: readonly NodeAddress[];
  /** For the annotation by which an external cloud provider learns of --node-ip. */
  readonly providedNodeIp?: string;
  readonly error?: string;
  /** --node-ip is none of this host's. */
  readonly invalid?: true;
}

/** cloud-provider api AnnotationAlphaProvidedIPAddr. */
export const providedNodeIpAnnotation = 'alpha.kubernetes.io/provided-node-ip';

/** What no longer holds is taken away, but not while something is wrong with --node-ip. */
export function withProvidedNodeIp(
  annotations: Readonly<Record<string, string>> | undefined,
  { providedNodeIp, invalid }: AddressResult,
): Readonly<Record<string, string>> | undefined {
  if (providedNodeIp !== undefined) return { ...annotations, [providedNodeIpAnnotation]: providedNodeIp };
  if (invalid || annotations === undefined) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== providedNodeIpAnnotation));
}

/** The node's addresses (pkg/kubelet/nodestatus/setters.go NodeAddress, for nodes without an in-tree cloud provider). */
export function nodeAddresses(existing: readonly NodeAddress[], facts: AddressFacts): AddressResult {
  const { nodeIps, hostname, externalCloudProvider, fault } = facts;
  const [first, second] = nodeIps;
  const nodeIp = first && !isUnspecified(first) ? first : undefined;
  const secondaryNodeIp = second && !isUnspecified(second) ? second : undefined;
  const nodeIpFault = nodeIp && fault(nodeIp);
  if (nodeIpFault !== undefined) return { error: `failed to validate nodeIP: ${nodeIpFault}`, invalid: true };
  const secondaryFault = secondaryNodeIp && fault(secondaryNodeIp);
  if (secondaryFault !== undefined) return { error: `failed to validate secondaryNodeIP: ${secondaryFault}`, invalid: true };

  const given = [nodeIp, secondaryNodeIp].filter((ip) => ip !== undefined).map(({ text }) => text);
  const provided = externalCloudProvider && nodeIp ? { providedNodeIp: given.join(',') } : {};
  // The provider's addresses take precedence once it has set them, and without --node-ip nothing else may guess them.
  if (externalCloudProvider && existing.length > 0) return provided;
  if (externalCloudProvider && !first) return { addresses: [{ type: 'Hostname', address: hostname }] };

  const internal = nodeIp && secondaryNodeIp ? [nodeIp, secondaryNodeIp] : [nodeIp ?? parseIp(hostname) ?? detected(facts)];
  const found = internal.filter((ip) => ip !== undefined);
  if (found.length === 0)
    return {
      ...provided,
      error: `can't get ip address of node ${facts.nodeName}. error: its name resolves to no address of this host and no default route leads to one; give --node-ip`,
    };
  return {
    ...provided,
    addresses: [...found.map(({ text }) => ({ type: 'InternalIP', address: text })), { type: 'Hostname', address: hostname }],
  };
}

/** By name, else by default route; IPv4 first unless --node-ip prefers IPv6. */
function detected({ nodeIps: [wanted], byName, byDefaultRoute, fault }: AddressFacts): IpAddress | undefined {
  const family = wanted?.family ?? 4;
  const preferred = (addresses: readonly string[], usable: (ip: IpAddress) => boolean): IpAddress | undefined => {
    const ips = addresses.map(parseIp).filter((ip) => ip !== undefined && usable(ip));
    return ips.find((ip) => ip?.family === family) ?? ips[0];
  };
  return preferred(byName, (ip) => fault(ip) === undefined) ?? preferred(byDefaultRoute, () => true);
}
