import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates, type TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import type { PemPair } from '../../base/pem-pair.ts';
import type { ClusterAccess } from './cluster-access.ts';

export interface ApiConnectorOptions {
  readonly access: Pick<ClusterAccess, 'server' | 'caPem' | 'insecureSkipTlsVerify' | 'tlsServerName' | 'proxyUrl'>;
  readonly identity: PemPair | undefined;
  readonly connectTimeoutMs: number;
  readonly onConnected: (socket: Socket | TLSSocket) => void;
}

/** So that the kernel notices a peer that is gone for good by itself. */
const KEEP_ALIVE_MS = 15_000;
const MAX_PROXY_ANSWER_BYTES = 16_384;

/** Makes connections to the API server as one TLS identity, through the proxy where there is one. Throws when certificate and key cannot be used. */
export function apiConnector({ access, identity, connectTimeoutMs, onConnected }: ApiConnectorOptions): buildConnector.connector {
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
    allowH2: https,
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
  const { proxyUrl } = access;
  if (proxyUrl === undefined) return connect;
  const target = new URL(access.server);
  const authority = `${target.hostname}:${target.port === '' ? (https ? 443 : 80) : target.port}`;
  return (options, callback) => {
    tunnelThrough(new URL(proxyUrl), authority, connectTimeoutMs, (error, socket) => {
      if (socket === undefined) callback(error ?? new Error('no tunnel'), null);
      else if (https) connect({ ...options, httpSocket: socket }, callback);
      else {
        onConnected(socket);
        callback(null, socket);
      }
    });
  };
}

/** Makes a CONNECT tunnel, or tells why there is none; once. */
function tunnelThrough(proxy: URL, authority: string, timeoutMs: number, done: (error: Error | undefined, socket?: Socket) => void): void {
  const at = { host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80) };
  const socket = proxy.protocol === 'https:' ? connectTls({ ...at, ca: getCACertificates('system') }) : connectTcp(at);
  const fail = (why: string, cause?: unknown): void => {
    release();
    socket.on('error', () => {}).destroy();
    done(new Error(`proxy ${proxy.host}: ${why}`, { cause }));
  };
  const onError = (error: Error): void => fail(error.message, error);
  const onClose = (): void => fail('it closed the connection');
  const onTimeout = (): void => fail(`no answer within ${timeoutMs / 1000} s`);
  let answer = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    answer = Buffer.concat([answer, chunk]);
    const end = answer.indexOf('\r\n\r\n');
    if (end < 0) {
      if (answer.length > MAX_PROXY_ANSWER_BYTES) fail('its answer is too long');
      return;
    }
    const status = answer.toString('latin1', 0, answer.indexOf('\r\n'));
    if (!/^HTTP\/1\.[01] 2\d\d(?: |$)/.test(status)) {
      fail(`it answered "${status}"`);
      return;
    }
    release();
    socket.setTimeout(0).setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true);
    socket.pause();
    if (end + 4 < answer.length) socket.unshift(answer.subarray(end + 4));
    done(undefined, socket);
  };
  const release = (): void => {
    socket.off('error', onError).off('close', onClose).off('timeout', onTimeout).off('data', onData);
  };
  const credentials = proxy.username === '' ? '' : `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = credentials === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`;
  socket.on('error', onError).on('close', onClose).on('timeout', onTimeout).on('data', onData).setTimeout(timeoutMs);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
}
