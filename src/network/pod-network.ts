import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { isMissingFile } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { readTextFile } from '../base/read-text-file.ts';
import { rememberedFor } from '../base/remembered-for.ts';
import { goIp } from '../model/go-ip.ts';
import { nodeReference } from '../model/object-reference.ts';
import { podDirectory } from '../model/pod-directory.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { Mount, SandboxSpec } from '../ports/container-runtime.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import { hostNetworkHostsFile, managedHostsFile } from './hosts-file.ts';
import { nodeResolvConf } from './node-resolv-conf.ts';
import { type DnsWarning, nodeFileWarning, podDns } from './pod-dns.ts';
import { podHostname, sandboxHostname } from './pod-hostname.ts';

export interface PodNetworkSettings {
  readonly rootDir: string;
  readonly nodeName: string;
  /** Primary first. */
  readonly nodeIps: readonly string[];
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Without a cluster its name servers are not missed. */
  readonly inCluster: boolean;
  /** --resolv-conf; empty: pods get no name servers from the node. */
  readonly resolvConf: string;
  /** Whether the machine labels files. */
  readonly selinux: boolean;
}

export interface PodNetworkDeps extends PodNetworkSettings {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/** What a pod sees of its network besides the network itself: its own name, its hosts file, and who resolves names for it. */
export interface PodNetwork {
  /** How the pod's sandbox is named and resolves names. Records in events what of it is cut short. Rejects in the kubelet's words. */
  sandbox(pod: Pod): Promise<Pick<SandboxSpec, 'hostname' | 'dns'>>;
  /**
   * /etc/hosts, written again for each container; none for a pod without addresses, or a container that mounts its own (pkg/kubelet makeMounts).
   * `unknown`: the addresses are known only later, and so is what is written.
   */
  hostsMounts(pod: Pod, container: Container, podIps: readonly string[] | 'unknown'): Promise<readonly Mount[]>;
  /** Records in an event what pods cannot use of the node's resolv.conf. */
  checkNodeFile(): Promise<void>;
}

const HOSTS = '/etc/hosts';
/** Pods that start together read the node's resolv.conf once. */
const RESOLV_CONF_MS = 1000;

export function podNetwork(deps: PodNetworkDeps): PodNetwork {
  const { rootDir, nodeName, nodeIps, clusterDomain, resolvConf, clock, events, log } = deps;
  const clusterDns = deps.clusterDns.flatMap((text) => {
    const address = goIp(text);
    if (address === undefined) log.warn('invalid cluster DNS address left out', { address: text });
    return address ?? [];
  });
  const settings = { clusterDns, clusterDomain, usesNodeFile: resolvConf !== '', nodeIps };

  const record = (pod: Pod | undefined, { about, reason, message }: DnsWarning): void =>
    events.record(about === 'pod' && pod ? pod : nodeReference(nodeName), 'Warning', reason, message);

  const writing = async (hostPath: string, pod: Pod, podIps: readonly string[]): Promise<() => Promise<void>> => {
    const { hostNetwork, hostAliases } = pod.spec;
    const content = hostNetwork
      ? hostNetworkHostsFile(await readTextFile(HOSTS), hostAliases)
      : managedHostsFile(podIps, podHostname(pod, clusterDomain), hostAliases);
    return () => writeFile(hostPath, content, { mode: 0o644 });
  };

  const nodeFile = rememberedFor(RESOLV_CONF_MS, clock, () => nodeResolvConf(resolvConf));

  return {
    async sandbox(pod) {
      const hostname = sandboxHostname(pod, clusterDomain);
      const { dns, warnings } = podDns(pod, settings, await nodeFile());
      for (const warning of warnings) if (deps.inCluster || warning.reason !== 'MissingClusterDNS') record(pod, warning);
      return { hostname, dns };
    },

    async hostsMounts(pod, container, podIps) {
      if (podIps.length === 0 || container.volumeMounts?.some(({ mountPath }) => mountPath === HOSTS)) return [];
      const directory = podDirectory(rootDir, pod.metadata.uid);
      const hostPath = join(directory, 'etc-hosts');
      // In place: the pod's containers that run already have this very file. Without addresses it is only there: of a source that is missing an
      // engine makes a directory.
      const write = podIps === 'unknown' ? () => appendFile(hostPath, '', { mode: 0o644 }) : await writing(hostPath, pod, podIps);
      await write().catch(async (error: unknown) => {
        if (!isMissingFile(error)) throw error;
        await mkdir(directory, { recursive: true, mode: 0o750 });
        await write();
      });
      return [{ hostPath, containerPath: HOSTS, readOnly: false, ...(deps.selinux && { relabel: true }) }];
    },

    async checkNodeFile() {
      if (resolvConf === '') return;
      const message = await nodeFile().then((node) => nodeFileWarning(resolvConf, clusterDomain, node), errorText);
      if (message !== undefined) record(undefined, { about: 'node', reason: 'CheckLimitsForResolvConf', message });
    },
  };
}
