import { isIPv6 } from 'node:net';
import { goIp } from '../model/go-ip.ts';

export interface IpAddress {
  /** As Go prints it. */
  readonly text: string;
  readonly family: 4 | 6;
}

/** Undefined for what is no address. */
export function parseIp(text: string): IpAddress | undefined {
  const shown = goIp(text);
  return shown === undefined ? undefined : { text: shown, family: isIPv6(shown) ? 6 : 4 };
}

export const isUnspecified = ({ text }: IpAddress): boolean => text === '0.0.0.0' || text === '::';

/** Why this cannot be a node's address, in the kubelet's words; undefined when it can (pkg/kubelet/kubelet_node_status.go validateNodeIP). */
export function nodeIpFault(ip: IpAddress, hostAddresses: readonly string[]): string | undefined {
  const { text, family } = ip;
  const starts = (...prefixes: readonly string[]): boolean => prefixes.some((prefix) => text.startsWith(prefix));
  const first = Number.parseInt(text, 10);
  if (family === 4 ? first === 127 : text === '::1') return "nodeIP can't be loopback address";
  if (family === 4 ? first >= 224 && first <= 239 : starts('ff')) return "nodeIP can't be a multicast address";
  if (family === 4 ? starts('169.254.') : starts('fe8', 'fe9', 'fea', 'feb')) return "nodeIP can't be a link-local unicast address";
  if (isUnspecified(ip)) return "nodeIP can't be an all zeros address";
  if (hostAddresses.some((address) => parseIp(address)?.text === text)) return undefined;
  return `node IP: "${text}" not found in the host's network interfaces`;
}

/** --node-ip: one address, or one of each family. Throws what is wrong. */
export function parseNodeIps(text: string): readonly IpAddress[] {
  if (text === '') return [];
  const ips = text.split(',').map((part) => parseIp(part.trim()));
  const [first, second] = ips;
  const pair = ips.length === 2 && first?.family !== second?.family && !ips.some((ip) => ip && isUnspecified(ip));
  const known = ips.filter((ip) => ip !== undefined);
  if (known.length !== ips.length || (ips.length > 1 && !pair))
    throw new Error(`bad --node-ip "${text}"; must contain either a single IP or a dual-stack pair of IPs`);
  return known;
}
