import { networkInterfaces } from 'node:os';
import { type IpAddress, isUnspecified } from './ip-address.ts';

/** What --node-ip names; else the node's first address that is neither loopback nor link-local, IPv4 before IPv6 unless "::" was named. */
export function hostIps(named: readonly IpAddress[], interfaces = networkInterfaces()): readonly string[] {
  const given = named.filter((ip) => !isUnspecified(ip));
  if (given.length > 0) return given.map(({ text }) => text);
  const addresses = Object.values(interfaces).flatMap((each) => each ?? []);
  const usable = addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'));
  const first = usable.find(({ family }) => family === `IPv${named[0]?.family ?? 4}`) ?? usable[0];
  return first ? [first.address] : [];
}
