import { isIP } from 'node:net';
import { isJsonObject, type JsonObject } from '../../base/json-object.ts';

/** The pod's addresses in a plugin's result of any version: the first of each family, IPv4 before IPv6. */
export function resultAddresses(result: JsonObject): readonly string[] {
  const { ips, interfaces, ip4, ip6 } = result;
  const known: readonly unknown[] = Array.isArray(interfaces) ? interfaces : [];
  const all = Array.isArray(ips) ? ips.filter(isJsonObject).filter((each) => isInSandbox(each['interface'], known)) : [ip4, ip6];
  const addresses = all.flatMap((each) => {
    const address = isJsonObject(each) ? (each['address'] ?? each['ip']) : undefined;
    return typeof address === 'string' ? [address.split('/')[0] ?? ''] : [];
  });
  return firstOfEachFamily(addresses);
}

export function firstOfEachFamily(addresses: readonly string[]): readonly string[] {
  return [4, 6].flatMap((family) => addresses.find((address) => isIP(address) === family) ?? []);
}

/** An address of an interface on the node is not the pod's. */
function isInSandbox(index: unknown, interfaces: readonly unknown[]): boolean {
  const of = typeof index === 'number' ? interfaces[index] : undefined;
  return !isJsonObject(of) || Boolean(of['sandbox']);
}
