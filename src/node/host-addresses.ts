import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { parseIp } from './ip-address.ts';
import type { MachinePaths } from '../base/machine-facts.ts';

export type InterfaceAddresses = Readonly<Record<string, readonly string[]>>;

/** Addresses of the interfaces that are up, by interface. */
export function readInterfaces(): InterfaceAddresses {
  return Object.fromEntries(
    Object.entries(networkInterfaces()).map(([name, infos]) => [name, (infos ?? []).map(({ address }) => address)]),
  );
}

/** Every address of the machine, also of interfaces that are down, which Node.js leaves out: a bridge without members, say. */
export async function readLocalAddresses({ root }: MachinePaths): Promise<readonly string[]> {
  const [v4, v6] = await Promise.all(
    ['proc/net/fib_trie', 'proc/net/if_inet6'].map((path) => readFile(join(root, path), 'utf8').catch(() => '')),
  );
  const ofTrie = [...(v4 ?? '').matchAll(/\|-- ([\d.]+)\n\s+\/32 host LOCAL/g)].map(([, address = '']) => address);
  const ofList = [...(v6 ?? '').matchAll(/^([0-9a-f]{32}) /gm)].map(([, digits = '']) => digits.replace(/(.{4})(?!$)/g, '$1:'));
  return [...new Set([...ofTrie, ...ofList])];
}

/** What a host name resolves to; nothing where it does not. */
export async function resolveName(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address);
  } catch {
    return [];
  }
}

/** An address of each interface that a default route leaves by, IPv4 routes first (apimachinery util/net chooseHostInterfaceFromRoute). */
export async function readDefaultRouteAddresses({ root }: MachinePaths, interfaces: InterfaceAddresses): Promise<readonly string[]> {
  const [v4, v6] = await Promise.all(
    ['proc/net/route', 'proc/net/ipv6_route'].map((path) => readFile(join(root, path), 'utf8').catch(() => '')),
  );
  return [
    ...globalAddresses(ipv4DefaultInterfaces(v4 ?? ''), 4, interfaces),
    ...globalAddresses(ipv6DefaultInterfaces(v6 ?? ''), 6, interfaces),
  ];
}

const fieldsOf = (text: string): readonly (readonly string[])[] => text.split('\n').map((line) => line.trim().split(/\s+/));

/** /proc/net/route: Iface Destination Gateway Flags RefCnt Use Metric Mask … */
const ipv4DefaultInterfaces = (text: string): readonly string[] =>
  fieldsOf(text).flatMap(([name = '', destination, , , , , , mask]) => (destination === '00000000' && mask === '00000000' ? [name] : []));

/** /proc/net/ipv6_route: destination prefix source prefix next-hop metric refcnt use flags Iface */
const ipv6DefaultInterfaces = (text: string): readonly string[] =>
  fieldsOf(text).flatMap(([destination, prefix, , , gateway = '', , , , , name = '']) =>
    /^0{32}$/.test(destination ?? '') && prefix === '00' && !/^0{32}$/.test(gateway) && name !== 'lo' ? [name] : [],
  );

function globalAddresses(names: readonly string[], family: 4 | 6, interfaces: InterfaceAddresses): readonly string[] {
  return [...new Set(names)].flatMap((name) => {
    const address = interfaces[name]?.find((text) => parseIp(text)?.family === family && isGlobalUnicast(text));
    return address === undefined ? [] : [address];
  });
}

/** Neither loopback, link-local nor multicast; private ones are (Go's IsGlobalUnicast). */
const isGlobalUnicast = (text: string): boolean =>
  !/^(127\.|169\.254\.|2(2[4-9]|3\d)\.|0\.0\.0\.0$|255\.255\.255\.255$|::1?$|fe[89ab]|ff)/.test(text);
