import type { IncomingHttpHeaders } from 'node:http';

/** The token of an Authorization header; undefined for none (apiserver authentication/request/bearertoken). */
export function bearerToken({ authorization }: IncomingHttpHeaders): string | undefined {
  const [scheme = '', token = ''] = (authorization ?? '').trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

const PROTOCOL_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/**
 * The token that a browser hides among a WebSocket's subprotocols (apiserver authentication/request/websocket), and the header without it,
 * which is what is to be answered. Undefined for none. Throws when there is one that cannot be meant.
 */
export function webSocketToken(headers: IncomingHttpHeaders): { readonly token: string; readonly protocols: string } | undefined {
  const isWebSocket = /\bupgrade\b/i.test(headers.connection ?? '') && headers.upgrade?.toLowerCase() === 'websocket';
  if (!isWebSocket) return undefined;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const hidden = protocols.filter((protocol) => protocol.startsWith(PROTOCOL_PREFIX));
  const [first] = hidden;
  if (first === undefined) return undefined;
  const encoded = first.slice(PROTOCOL_PREFIX.length);
  const others = protocols.filter((protocol) => protocol !== '' && protocol !== first);
  if (hidden.length > 1) throw new Error('multiple bearer tokens specified');
  if (!/^[\w-]+$/.test(encoded)) throw new Error('invalid base64.bearer.authorization token encoding');
  if (others.length === 0) throw new Error('missing additional subprotocol');
  return { token: Buffer.from(encoded, 'base64url').toString(), protocols: others.join(', ') };
}
