import type { Socket } from 'node:net';
import { ProxyError, type ProxyUser, type TunnelTarget } from './proxy.ts';
import { readUntil } from './socket-bytes.ts';

const MAX_HEAD_BYTES = 16_384;
/** As much of an answer as a message repeats. */
const MAX_QUOTE = 200;

/** Asks an HTTP proxy for a tunnel (RFC 9110, CONNECT). */
export async function httpTunnel(socket: Socket, { host, port }: TunnelTarget, user: ProxyUser | undefined): Promise<void> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const credentials = user && Buffer.from(`${user.name}:${user.password}`).toString('base64');
  const authorization = credentials === undefined ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  const head = (await readUntil(socket, '\r\n\r\n', MAX_HEAD_BYTES)).toString('latin1');
  const status = head.slice(0, head.indexOf('\r\n'));
  if (/^HTTP\/1\.[01] 2\d\d(?: |$)/.test(status)) return;
  const wants = /^HTTP\/1\.[01] 407(?: |$)/.test(status)
    ? user === undefined
      ? '; it asks for a user and a password, which its URL does not have'
      : '; it does not take the user and the password of its URL'
    : '';
  throw new ProxyError(`the proxy answered CONNECT ${authority} with "${status.slice(0, MAX_QUOTE)}"${wants}`);
}
