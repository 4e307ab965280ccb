import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import { formatTime } from '../../model/time.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type Environment, environmentProxy } from './environment-proxy.ts';
import { impersonationOf } from './impersonation.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { type KubeconfigFields, parseKubeconfig } from './parse-kubeconfig.ts';
import { pemOf } from './pem-of.ts';
import { parseProxy, type Proxy } from './proxy.ts';
import { userCredentials } from './user-credentials.ts';

export interface LoadKubeconfigDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Where proxies may be named; absent: the agent's own. */
  readonly env?: Environment | undefined;
}

/**
 * What a kubeconfig's current context says: server, CA and credentials, all files read and checked. Says nothing to the server yet.
 * Rejects with KubeconfigError; `fault` is 'missing' when there is no such file.
 */
export async function loadKubeconfig(file: string, deps: LoadKubeconfigDeps): Promise<ClusterAccess> {
  const selected = parseKubeconfig(await readKubeconfig(file), file);
  const { cluster, clusterName, contextName, userName } = selected;
  const directory = dirname(resolve(file));
  const origin = `kubeconfig ${file}, context "${contextName}"${userName === '' ? '' : `, user "${userName}"`}`;
  const insecureSkipTlsVerify = cluster.flag('insecure-skip-tls-verify');
  const caPem = await pemOf(cluster, 'certificate-authority', directory, `kubeconfig ${file}, cluster "${clusterName}"`);
  if (caPem !== undefined && insecureSkipTlsVerify) {
    throw new KubeconfigError(
      'malformed',
      `kubeconfig ${cluster.at('insecure-skip-tls-verify')}: cluster "${clusterName}" has a certificate-authority and insecure-skip-tls-verify; choose one`,
    );
  }
  if (caPem !== undefined) checkCa(caPem, `kubeconfig ${file}: the certificate-authority of cluster "${clusterName}"`, deps.clock.now());
  const server = serverOf(cluster, clusterName);
  const access: Omit<ClusterAccess, 'credentials'> = {
    server,
    insecureSkipTlsVerify,
    origin,
    caPem,
    caFile: caFileOf(cluster, directory),
    tlsServerName: cluster.text('tls-server-name'),
    proxyUrl: cluster.text('proxy-url'),
    proxy: proxyOf(cluster) ?? environmentProxy(new URL(server), deps.env ?? process.env),
    impersonation: impersonationOf(selected.user),
  };
  return {
    ...access,
    credentials: await userCredentials(selected.user, { ...deps, directory, origin, source: { file, userName }, cluster: access }),
  };
}

function caFileOf(cluster: KubeconfigFields, directory: string): string | undefined {
  const path = cluster.has('certificate-authority-data') ? undefined : cluster.text('certificate-authority');
  return path === undefined ? undefined : resolve(directory, path);
}

async function readKubeconfig(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') {
      throw new KubeconfigError('missing', `kubeconfig ${file} does not exist`, { cause });
    }
    throw new KubeconfigError('unreadable', `kubeconfig ${file} cannot be read: ${errorText(cause)}`, { cause });
  }
}

function serverOf(cluster: KubeconfigFields, name: string): string {
  const server = cluster.text('server');
  if (server === undefined) throw new KubeconfigError('malformed', `kubeconfig ${cluster.at()}: cluster "${name}" has no server`);
  const url = URL.parse(server.includes('://') ? server : `https://${server}`);
  if (
    url === null ||
    (url.protocol !== 'https:' && url.protocol !== 'http:') ||
    url.hostname === '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new KubeconfigError('malformed', `kubeconfig ${cluster.at('server')}: server: expected an http or https URL, found "${server}"`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function proxyOf(cluster: KubeconfigFields): Proxy | undefined {
  const url = cluster.text('proxy-url');
  return url === undefined ? undefined : parseProxy(url, 'proxy-url', `kubeconfig ${cluster.at('proxy-url')}: proxy-url`);
}

/** Certificates that can be parsed, one of them at least in force. */
function checkCa(pem: string, what: string, nowMs: number): void {
  const blocks = pem.match(/-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]*-----END (?:TRUSTED )?CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new KubeconfigError('malformed', `${what} holds no certificate`);
  const ends = blocks.map((block) => {
    try {
      return new X509Certificate(block).validToDate.getTime();
    } catch (cause) {
      throw new KubeconfigError('malformed', `${what} cannot be read: ${errorText(cause)}`, { cause });
    }
  });
  const lastEndMs = Math.max(...ends);
  if (lastEndMs <= nowMs) throw new KubeconfigError('expired', `${what} expired at ${formatTime(lastEndMs)}`);
}
