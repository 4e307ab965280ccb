import { networkInterfaces } from 'node:os';

/** The node's first address that is neither loopback nor link-local, IPv4 before IPv6. */
export function hostIps(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const usable = addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'));
  const first = usable.find(({ family }) => family === 'IPv4') ?? usable[0];
  return first ? [first.address] : [];
}
