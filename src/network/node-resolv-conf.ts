import { readFile } from 'node:fs/promises';
import { readTextFile } from '../base/read-text-file.ts';
import { type DnsConfig, parseResolvConf } from '../model/resolv-conf.ts';

/** What a containers' engine reads too when systemd-resolved answers on the node's loopback address, which pods have not. */
const STUB = { file: '/etc/resolv.conf', server: '127.0.0.53', upstream: '/run/systemd/resolve/resolv.conf' } as const;

/**
 * How the node resolves names: the file of --resolv-conf, nothing where that is empty. Where /etc/resolv.conf names only the stub of
 * systemd-resolved, the servers behind it. Rejects in the kubelet's words.
 */
export async function nodeResolvConf(path: string): Promise<DnsConfig> {
  if (path === '') return { servers: [], searches: [], options: [] };
  const own = parseResolvConf(await readTextFile(path));
  if (path !== STUB.file || own.servers.length === 0 || own.servers.some((server) => server !== STUB.server)) return own;
  return readFile(STUB.upstream, 'utf8').then(parseResolvConf, () => own);
}
