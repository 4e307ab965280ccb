import { KubeconfigError } from './kubeconfig-error.ts';

export interface ProxyUser {
  readonly name: string;
  readonly password: string;
}

/** Where a proxy is asked to connect to. */
export interface TunnelTarget {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** What stands between this node and the API server. */
export interface Proxy {
  /** http, https or socks5, perhaps with a user and a password. */
  readonly url: URL;
  /** As whom it is asked: the URL's user and password. */
  readonly user: ProxyUser | undefined;
  /** Who names it, for messages: "proxy-url", "HTTPS_PROXY". */
  readonly from: string;
}

const kinds: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks5h:']);

/** Reads a proxy's URL, of which messages repeat nothing: it may hold a password. Throws KubeconfigError. */
export function parseProxy(text: string, from: string, where: string): Proxy {
  const url = URL.parse(text);
  if (url === null || url.hostname === '' || !kinds.has(url.protocol)) {
    throw new KubeconfigError('malformed', `${where}: expected the URL of an http, https or socks5 proxy`);
  }
  try {
    const [name, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return { url, from, user: name === '' ? undefined : { name, password } };
  } catch {
    throw new KubeconfigError('malformed', `${where}: in its user or password a "%" is not followed by two digits`);
  }
}

/** "http://10.0.0.1:3128 (HTTPS_PROXY)": never with the user and the password. */
export const proxyName = ({ url, from }: Proxy): string => `${url.protocol}//${url.host} (${from})`;

/** For messages: " through the proxy http://10.0.0.1:3128 (HTTPS_PROXY)", or nothing. */
export const through = (proxy: Proxy | undefined): string => (proxy === undefined ? '' : ` through the proxy ${proxyName(proxy)}`);

/** Why a proxy gives no connection to the API server. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
}
