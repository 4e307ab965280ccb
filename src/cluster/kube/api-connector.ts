import type { Socket } from 'node:net';
import { createSecureContext, getCACertificates, type TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import type { Clock } from '../../base/clock.ts';
import type { PemPair } from '../../base/pem-pair.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { openTunnel } from './tunnel.ts';

export interface ApiConnectorOptions {
  readonly access: Pick<ClusterAccess, 'server' | 'caPem' | 'insecureSkipTlsVerify' | 'tlsServerName' | 'proxy'>;
  /** Whether HTTP/2 is offered to the server. */
  readonly allowH2: boolean;
  readonly identity: PemPair | undefined;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  /** Ends what is still being connected. */
  readonly signal: AbortSignal;
  readonly onConnected: (socket: Socket | TLSSocket) => void;
}

/** So that the kernel notices a peer that is gone for good by itself. */
const KEEP_ALIVE_MS = 15_000;

/** Makes connections to the API server as one TLS identity, through the proxy where there is one. Throws when certificate and key cannot be used. */
export function apiConnector({
  access,
  allowH2,
  identity,
  clock,
  connectTimeoutMs,
  signal,
  onConnected,
}: ApiConnectorOptions): buildConnector.connector {
  const https = access.server.startsWith('https:');
  const tls = https
    ? {
        secureContext: createSecureContext({
          // Node alone would trust its own list, and not what the machine's administrator trusts.
          ca: access.caPem ?? getCACertificates('system'),
          cert: identity?.certificatePem,
          key: identity?.keyPem,
        }),
        rejectUnauthorized: access.insecureSkipTlsVerify !== true,
        servername: access.tlsServerName,
      }
    : {};
  const direct = buildConnector({
    ...tls,
    allowH2: https && allowH2,
    preferH2: true,
    timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  });
  const connect: buildConnector.connector = (options, callback) =>
    direct(options, (...result) => {
      if (result[0] === null) onConnected(result[1]);
      callback(...result);
    });
  const { proxy } = access;
  if (proxy === undefined) return connect;
  const { hostname, port } = new URL(access.server);
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (https ? 443 : 80) };
  return (options, callback) => {
    const opened = (socket: Socket): void => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true);
      if (https) {
        connect({ ...options, httpSocket: socket }, callback);
        return;
      }
      onConnected(socket);
      callback(null, socket);
    };
    const failed = (error: unknown): void => callback(error instanceof Error ? error : new Error(String(error)), null);
    openTunnel(proxy, target, { clock, timeoutMs: connectTimeoutMs, signal }).then(opened, failed);
  };
}
