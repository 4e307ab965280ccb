import { aborted } from './base/aborted.ts';
import { openFileLimit } from './base/open-file-limit.ts';
import { chance } from './base/chance.ts';
import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import type { Service } from './base/service.ts';
import { ThreadPoolWatch } from './base/thread-pool-watch.ts';
import type { CsrClients } from './certificates/csr-client.ts';
import { servingCertificate } from './certificates/serving-certificate.ts';
import type { EnginePart } from './engine-part.ts';
import type { KubeletMetrics } from './metrics/kubelet-metrics.ts';
import type { NodeAddress } from './model/node.ts';
import type { Pod } from './model/pod.ts';
import type { KubeletOptions, OptionOrigins } from './options/kubelet-options.ts';
import type { PodLifecycleEvents } from './pleg/pod-lifecycle-events.ts';
import type { HostFiles } from './ports/host-files.ts';
import type { KubeApi } from './ports/kube-api.ts';
import type { PodStore } from './ports/pod-store.ts';
import type { StatusManager } from './ports/status-manager.ts';
import { servedRoutes } from './served-routes.ts';
import { kubeletServer } from './server/kubelet-server.ts';
import { podStats } from './stats/pod-stats.ts';

export interface ServerPartDeps {
  readonly origins: OptionOrigins;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pods: PodStore;
  readonly statuses: Pick<StatusManager, 'get'>;
  readonly pleg: Pick<PodLifecycleEvents, 'health'>;
  readonly engine: EnginePart;
  readonly hostFiles: HostFiles;
  readonly metrics: KubeletMetrics;
  /** The node's, as far as they are known. */
  readonly addresses: () => readonly NodeAddress[];
  readonly setVerbosity: (level: number) => void;
  /** Undefined: the node belongs to no cluster. */
  readonly cluster: ServedCluster | undefined;
}

export interface ServedCluster {
  /** Asked about tokens and rights. */
  readonly api: Pick<KubeApi, 'request'>;
  /** Asked for a serving certificate. */
  readonly csr: () => CsrClients;
  readonly mirrorUidOf: (pod: Pod) => string | undefined;
}

/** The node's own server with everything that it shows. To be run last, when all the rest is there. */
export async function serverPart(options: KubeletOptions, deps: ServerPartDeps): Promise<readonly Service[]> {
  const { origins, clock, log, pods, statuses, engine, hostFiles, metrics, cluster, addresses } = deps;
  const { nodeName, rootDir, enableServer } = options;
  const stats = await podStats({ clock, running: engine.running, pods, statuses, rootDir, imageDir: engine.dataDirectory, hostFiles });
  const certificate = servingCertificate({ options, nodeName, addresses, clients: cluster?.csr, clock, log, random: chance });
  const threadPool = new ThreadPoolWatch({ clock });
  const openFiles = openFileLimit();
  const routes = servedRoutes(options, { ...deps, stats, threadPool, openFiles });
  const meter = { begin: metrics.requestBegun };
  const server = kubeletServer({
    options,
    origins,
    routes,
    api: cluster?.api,
    certificate,
    meter,
    nodeName,
    openFiles,
    clock,
    log,
  });
  const measuring: Service = { name: 'stats', run: (signal) => aborted(signal).finally(() => stats.close()) };
  return [...(enableServer ? [certificate] : []), server, measuring, threadPool];
}
