import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { goIp } from '../../../src/model/go-ip.ts';
import type { PodSpec, PodUid } from '../../../src/model/pod.ts';
import { nodeResolvConf } from '../../../src/network/node-resolv-conf.ts';
import { podDns } from '../../../src/network/pod-dns.ts';
import { aPod } from '../../builders/a-pod.ts';

interface Input {
  readonly dnsPolicy?: string;
  readonly hostNetwork?: boolean;
  readonly namespace?: string;
  readonly dnsConfig?: PodSpec['dnsConfig'];
  readonly clusterDNS?: readonly string[];
  readonly clusterDomain?: string;
  readonly nodeIPs?: readonly string[];
  readonly resolvConf?: string;
  readonly resolvConfMissing?: boolean;
}

interface Output {
  readonly servers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly string[];
  readonly events?: readonly string[];
  readonly error?: string;
}

export async function run(input: Input): Promise<Output> {
  const directory = mkdtempSync(join(tmpdir(), 'resolv-'));
  try {
    let path = input.resolvConfMissing ? '/nonexistent/resolv.conf' : '';
    if (input.resolvConf !== undefined) writeFileSync((path = join(directory, 'resolv.conf')), input.resolvConf);
    const { dnsPolicy, hostNetwork, dnsConfig, namespace = '' } = input;
    const spec = { dnsPolicy: dnsPolicy ?? '', ...(hostNetwork !== undefined && { hostNetwork }), ...(dnsConfig && { dnsConfig }) };
    const pod = aPod('p', spec, { namespace, uid: 'u' as PodUid });
    const settings = {
      clusterDns: (input.clusterDNS ?? []).flatMap((ip) => goIp(ip) ?? []),
      clusterDomain: input.clusterDomain ?? '',
      usesNodeFile: path !== '',
      nodeIps: (input.nodeIPs ?? []).flatMap((ip) => goIp(ip) ?? []),
    };
    const { dns, warnings } = podDns(pod, settings, await nodeResolvConf(path));
    return { ...dns, events: warnings.map(({ reason, message }) => `Warning ${reason} ${message}`) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Options are sorted, and an empty list is none. */
export function same(actual: Output, expected: Output): boolean {
  const normal = ({ servers = [], searches = [], options = [], events = [], error }: Output): object => ({
    servers,
    searches,
    options: options.toSorted(),
    events,
    error,
  });
  return isDeepStrictEqual(normal(actual), normal(expected));
}
