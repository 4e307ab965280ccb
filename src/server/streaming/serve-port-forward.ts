import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket } from 'ws';
import { HttpError, type RouteRequest } from '../../ports/route.ts';
import { whenClosed } from '../../base/close-socket.ts';
import { forwardChannels, portsQuery } from './port-forward-channels.ts';
import type { PortForwardDeps } from './port-forward-deps.ts';
import { PortForwardPairs } from './port-forward-pairs.ts';
import { SpdyConnection } from '../../base/spdy/spdy-connection.ts';
import { upgradeToSpdy } from './spdy-upgrade.ts';
import { wantedUpgrade } from './upgrade-answer.ts';
import { WebSocketChannels } from './websocket-channels.ts';
import { acceptWebSocket } from './websocket-upgrade.ts';

/** SPDY within WebSocket messages, as newer clients reach the API server through proxies (k8s.io/apimachinery/pkg/util/portforward). */
const TUNNEL_PROTOCOL = 'SPDY/3.1+portforward.k8s.io';
const webSocketProtocols = ['', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io', TUNNEL_PROTOCOL] as const;

/**
 * Forwards connections to ports of a pod for a client that speaks SPDY/3.1 or WebSocket. Resolves when the client's connection is closed.
 * Rejects with HttpError as long as nothing was answered.
 */
export async function servePortForward(request: RouteRequest, socket: Duplex, head: Buffer, deps: PortForwardDeps): Promise<void> {
  if (request.message.method !== 'GET' && request.message.method !== 'POST') throw new HttpError(405, 'method not allowed');
  if (wantedUpgrade(request.message) === 'websocket') await serveWebSocket(request, socket, head, deps);
  else await serveSpdy(request, socket, head, deps);
}

async function serveSpdy(request: RouteRequest, socket: Duplex, head: Buffer, deps: PortForwardDeps): Promise<void> {
  const pairs = new PortForwardPairs(deps);
  const connection = await upgradeToSpdy(request, socket, head, ['portforward.k8s.io'], deps, () => pairs.use);
  if (connection !== undefined) await pairs.serve(connection, request.signal);
}

async function serveWebSocket(request: RouteRequest, socket: Duplex, head: Buffer, deps: PortForwardDeps): Promise<void> {
  const tunnelled = (request.message.headers['sec-websocket-protocol'] ?? '').includes(TUNNEL_PROTOCOL);
  const ports = tunnelled ? [] : portsQuery(request.query);
  const { webSocket, protocol } = await acceptWebSocket(request.message, socket, head, tunnelled ? [TUNNEL_PROTOCOL] : webSocketProtocols);
  if (protocol === TUNNEL_PROTOCOL) {
    await serveTunnel(webSocket, request.signal, deps);
    return;
  }
  const { idleTimeoutMs, clock } = deps;
  const kinds = ports.flatMap(() => ['both', 'write'] as const);
  const connection = new WebSocketChannels(webSocket, socket, kinds, {
    base64: protocol.includes('base64'),
    closeSignal: false,
    idleTimeoutMs,
    clock,
  });
  await forwardChannels(connection, ports, deps, AbortSignal.any([request.signal, connection.over]));
  await connection.close();
}

async function serveTunnel(webSocket: WebSocket, stop: AbortSignal, deps: PortForwardDeps): Promise<void> {
  const { idleTimeoutMs, clock, log } = deps;
  const pairs = new PortForwardPairs(deps);
  const tunnel = createWebSocketStream(webSocket);
  const connection = new SpdyConnection(tunnel, Buffer.alloc(0), { ...pairs.use, idleTimeoutMs, clock, log });
  await pairs.serve(connection, stop);
  await whenClosed(tunnel);
}
