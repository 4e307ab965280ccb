import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { parseProxy, type Proxy } from './proxy.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a server, as Go programs take it (golang.org/x/net/http/httpproxy): HTTPS_PROXY for https,
 * HTTP_PROXY for http, but for what NO_PROXY names and for this machine itself; in capitals before small letters. Throws KubeconfigError.
 */
export function environmentProxy(server: URL, env: Environment): Proxy | undefined {
  const scheme = server.protocol === 'https:' ? 'https' : 'http';
  const variable = [`${scheme.toUpperCase()}_PROXY`, `${scheme}_proxy`].find((name) => env[name]);
  const text = variable === undefined ? undefined : env[variable];
  if (variable === undefined || !text) return undefined;
  const target: Target = {
    host: server.hostname.replace(/^\[|\]$/g, '').toLowerCase(),
    port: server.port || (scheme === 'https' ? '443' : '80'),
  };
  if (isThisMachine(target.host) || isExcepted(target, env['NO_PROXY'] || env['no_proxy'] || '')) return undefined;
  return parseProxy(text.includes('://') ? text : `http://${text}`, variable, `${variable} in the environment`);
}

interface Target {
  readonly host: string;
  readonly port: string;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const isThisMachine = (host: string): boolean => host === 'localhost' || contains(loopback, host);

function isExcepted(target: Target, noProxy: string): boolean {
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, target));
}

/** "*", a network "10.0.0.0/8", an address or a name, these with or without a port; a name stands for all below it, too. */
function matches(entry: string, { host, port }: Target): boolean {
  if (entry === '*') return true;
  const network = networkOf(entry);
  if (network !== undefined) return contains(network, host);
  const [, bracketed, named, givenPort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  // Whatever else has colons is an address of IPv6.
  const name = bracketed ?? named ?? entry;
  if (name === '' || (givenPort !== undefined && givenPort !== port)) return false;
  const address = addressList(name);
  if (address !== undefined) return contains(address, host);
  const suffix = name.replace(/^\*\./, '.');
  if (suffix.startsWith('.')) return host.endsWith(`.${ascii(suffix.slice(1))}`);
  return host === ascii(suffix) || host.endsWith(`.${ascii(suffix)}`);
}

const ascii = (name: string): string => domainToASCII(name) || name;

function networkOf(entry: string): BlockList | undefined {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return undefined;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list;
}

function addressList(address: string): BlockList | undefined {
  const family = isIP(address);
  if (family === 0) return undefined;
  const list = new BlockList();
  list.addAddress(address, family === 4 ? 'ipv4' : 'ipv6');
  return list;
}

function contains(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
