import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, getCACertificates } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { deadline } from '../../base/deadline.ts';
import { errorCode } from '../../base/error-code.ts';
import { errorText } from '../../base/error-text.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { httpTunnel } from './http-tunnel.ts';
import { type Proxy, ProxyError, type TunnelTarget } from './proxy.ts';
import { socksTunnel } from './socks-tunnel.ts';

export interface TunnelDeps {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborts when the tunnel is no longer needed. */
  readonly signal: AbortSignal;
}

/** A connection to `target` through a proxy, within one deadline for all of it. Rejects with ProxyError. */
export async function openTunnel(proxy: Proxy, target: TunnelTarget, { clock, timeoutMs, signal }: TunnelDeps): Promise<Socket> {
  using within = deadline(clock, timeoutMs, 'the tunnel', signal);
  const socket = dial(proxy);
  // Who gets it listens too; until then an error is heard as its end.
  socket.on('error', () => {});
  let step = 'the proxy was dialled';
  const work = async (): Promise<void> => {
    await once(socket, proxy.url.protocol === 'https:' ? 'secureConnect' : 'connect');
    step = `the proxy was asked to connect to ${target.host} port ${target.port}`;
    await (isSocks(proxy) ? socksTunnel : httpTunnel)(socket, target, proxy.user);
  };
  try {
    await unlessAborted(Promise.race([work(), endOf(socket)]), within.signal);
  } catch (cause) {
    socket.destroy();
    signal.throwIfAborted();
    if (within.missed) throw new ProxyError(`${step}, and nothing came for ${timeoutMs / 1000} s`, { cause });
    throw cause instanceof ProxyError ? cause : new ProxyError(`${step}: ${explained(cause)}`, { cause });
  }
  return socket;
}

function dial({ url }: Proxy): Socket {
  const defaultPort = url.protocol === 'https:' ? 443 : url.protocol === 'http:' ? 80 : 1080;
  const at = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || defaultPort };
  return url.protocol === 'https:' ? connectTls({ ...at, ca: getCACertificates('system') }) : connectTcp(at);
}

const isSocks = ({ url }: Proxy): boolean => url.protocol.startsWith('socks');

async function endOf(socket: Socket): Promise<never> {
  // Rejects with its error where it has one.
  await once(socket, 'close');
  throw new Error('it closed the connection');
}

function explained(cause: unknown): string {
  const code = errorCode(cause);
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `its name cannot be resolved (${code})`;
  return errorText(cause);
}
