import { goArch } from '../base/go-arch.ts';
import type { Service } from '../base/service.ts';
import { version } from '../base/version.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import { podFieldGates } from '../options/feature-gates/pod-field-gates.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Ground } from '../ports/node-parts.ts';
import type { Staged } from '../ports/staged.ts';
import { clusterCredentials } from './credentials.ts';
import type { CertificateHappenings } from './certificates/certificate-rotation.ts';
import { servingCertificate } from './certificates/serving-certificate.ts';
import { apiEvents } from './events/api-events.ts';
import type { ApiHappenings } from './kube/api-transport.ts';
import { kubeClients } from './kube/kube-clients.ts';
import { NodeFollower } from './node-follower.ts';
import { type ApiSource, apiSource } from './pods/api-source.ts';

export { kubeconfigFaults } from './credentials.ts';

export interface ApiClusterDeps extends Pick<Ground, 'live' | 'clock' | 'log' | 'random' | 'tracing'> {
  readonly tell: ApiHappenings & CertificateHappenings;
}

/** What it runs needs nothing of the capabilities. */
export interface ApiCluster extends Cluster {
  readonly sources: readonly [ApiSource];
  readonly services: readonly (Service & Staged)[];
}

/** The cluster of --kubeconfig. Rejects with an error for people when the kubeconfig cannot be used as it is. */
export async function apiCluster(
  options: KubeletOptions,
  { live, clock, log, tell, tracing, random }: ApiClusterDeps,
): Promise<ApiCluster> {
  const { nodeName, nodeLeaseDurationSeconds, nodeStatusUpdateFrequencyMs, chaosChance } = options;
  const { clients, service: credentials } = await clusterCredentials(options, {
    clock,
    log,
    tell,
    random,
    open: (access) =>
      kubeClients({
        access,
        clock,
        log,
        main: () => ({ qps: live.now.kubeApiQps, burst: live.now.kubeApiBurst }),
        events: () => ({ qps: live.now.eventQps, burst: live.now.eventBurst }),
        heartbeatTimeoutMs: Math.min(nodeLeaseDurationSeconds * 1000, nodeStatusUpdateFrequencyMs),
        tell,
        tracing,
        chaos: chaosChance > 0 ? () => random() < chaosChance : undefined,
        userAgent: `rxlet/${version()} (linux/${goArch(process.arch)})`,
      }),
  });
  const source = apiSource({ informer: clients.informer, nodeName, fields: podFieldGates(options.featureGates), log });
  const { recorder, sink } = apiEvents({ clock, log, api: clients.events, nodeName, random });
  const follower = new NodeFollower({ informer: clients.informer, nodeName });
  const csr = () => ({ api: clients.main, informer: clients.informer });
  return {
    exists: true,
    clients,
    sources: [source],
    apiPods: source.pods,
    recorder,
    nodes: follower.nodes,
    node: () => follower.node(),
    nodeChanges: follower.nodeChanges,
    servingCertificate: (addresses) => servingCertificate({ options, nodeName, addresses, clients: csr, clock, log, tell, random }),
    listener: { podEnded: ({ uid }) => sink.forget(uid) },
    services: [credentials, sink, follower].map(inFirstStage),
  };
}

const inFirstStage = (service: Service): Service & Staged => ({
  name: service.name,
  stage: 'credentials',
  run: (signal: AbortSignal) => service.run(signal),
});
