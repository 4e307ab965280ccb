import { isIP } from 'node:net';
import type { NodeAddress } from '../../model/node.ts';
import { type CertificateSubject, nodeSubject } from './certificate-request.ts';
import { plainAddress } from './subject-alternative-name.ts';

/**
 * Whom a serving certificate from the cluster has to name: the node and all its addresses (pkg/kubelet/certificate addressesToHostnamesAndIPs).
 * Undefined while the node has none: there is nothing to ask for yet.
 */
export function servingSubject(nodeName: string, addresses: readonly NodeAddress[]): CertificateSubject | undefined {
  const { dnsNames, ipAddresses } = hostsOf(addresses.map(({ address }) => address));
  return dnsNames.length + ipAddresses.length === 0 ? undefined : { ...nodeSubject(nodeName), dnsNames, ipAddresses };
}

/** Whom a self-signed certificate names: the node, its addresses and the machine itself. */
export function selfSignedSubject(nodeName: string, addresses: readonly NodeAddress[], nowMs: number): CertificateSubject {
  const hosts = hostsOf([nodeName, 'localhost', '127.0.0.1', '::1', ...addresses.map(({ address }) => address)]);
  // The kubelet's, too, tells one from the next by the second.
  return { commonName: `${nodeName}@${Math.floor(nowMs / 1000)}`, organizations: [], ...hosts };
}

function hostsOf(hosts: readonly string[]): { readonly dnsNames: readonly string[]; readonly ipAddresses: readonly string[] } {
  const known = [...new Set(hosts.map(plainAddress))].filter((host) => host !== '').toSorted();
  return { dnsNames: known.filter((host) => isIP(host) === 0), ipAddresses: known.filter((host) => isIP(host) > 0) };
}
