import { isIPv4, isIPv6, type Socket } from 'node:net';
import { ProxyError, type ProxyUser, type TunnelTarget } from './proxy.ts';
import { readExactly } from './socket-bytes.ts';

const VERSION = 5;
const NO_CREDENTIALS = 0;
const PASSWORD = 2;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
/** Names, users and passwords are sent behind one byte that counts theirs. */
const MAX_TEXT_BYTES = 255;

const replies: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'not allowed by its rules',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
  7: 'it cannot connect',
  8: 'it does not know this kind of address',
};

/** Asks a SOCKS5 proxy for a connection (RFC 1928, RFC 1929). The proxy resolves the server's name. */
export async function socksTunnel(socket: Socket, target: TunnelTarget, user: ProxyUser | undefined): Promise<void> {
  const what = `to connect to ${target.host} port ${target.port}`;
  const methods = user === undefined ? [NO_CREDENTIALS] : [NO_CREDENTIALS, PASSWORD];
  socket.write(Buffer.of(VERSION, methods.length, ...methods));
  const [version, method] = await readExactly(socket, 2);
  if (version !== VERSION) throw new ProxyError('what answers there is no SOCKS5 proxy');
  if (method === PASSWORD && user !== undefined) await showPassword(socket, user);
  else if (method !== NO_CREDENTIALS) {
    const wants = user === undefined ? 'a user and a password, which its URL does not have' : 'a way of signing in that is not known here';
    throw new ProxyError(`the proxy was asked ${what} and wants ${wants}`);
  }
  const port = Buffer.alloc(2);
  port.writeUInt16BE(target.port);
  socket.write(Buffer.concat([Buffer.of(VERSION, CONNECT, 0), addressBytes(target.host), port]));
  const [, reply = 0, , kind] = await readExactly(socket, 4);
  if (reply !== 0) throw new ProxyError(`the proxy was asked ${what} and refused: ${replies[reply] ?? `reply ${reply}`}`);
  // From where it connects: of no use, but it has to be read.
  const length = kind === IPV4 ? 4 : kind === IPV6 ? 16 : ((await readExactly(socket, 1))[0] ?? 0);
  await readExactly(socket, length + 2);
}

async function showPassword(socket: Socket, { name, password }: ProxyUser): Promise<void> {
  socket.write(Buffer.concat([Buffer.of(1), counted(name), counted(password)]));
  const [, status] = await readExactly(socket, 2);
  if (status !== 0) throw new ProxyError('the proxy does not take the user and the password of its URL');
}

function addressBytes(host: string): Buffer {
  if (isIPv4(host)) return Buffer.of(IPV4, ...host.split('.').map(Number));
  if (isIPv6(host)) return Buffer.concat([Buffer.of(IPV6), ipv6Bytes(host)]);
  return Buffer.concat([Buffer.of(NAME), counted(host)]);
}

/** As URLs write it: short, with at most one "::", and no IPv4 in it. */
function ipv6Bytes(host: string): Buffer {
  const [front = '', back = ''] = host.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const middle = Array<string>(8 - groups(front).length - groups(back).length).fill('0');
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...groups(front), ...middle, ...groups(back)].entries())
    bytes.writeUInt16BE(parseInt(group, 16), index * 2);
  return bytes;
}

function counted(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_TEXT_BYTES)
    throw new ProxyError(`a SOCKS5 proxy takes no name, user or password of more than ${MAX_TEXT_BYTES} bytes`);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}
