import { podFullName } from '../model/pod.ts';
import type { ThreadPoolWatch } from '../base/thread-pool-watch.ts';
import { openFileLimit } from '../base/open-file-limit.ts';
import type { Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Route } from '../ports/route.ts';
import type { ServingCertificate } from '../ports/serving-certificate.ts';
import { healthChecks } from './health-checks.ts';
import { kubeletServer } from './kubelet-server.ts';
import { serverRoutes } from './server-routes.ts';

export interface ServerParts {
  readonly certificate: ServingCertificate;
  readonly threadPool: ThreadPoolWatch;
  readonly onListening: () => void;
}

/** Serves the node's own routes and all that was contributed, until the signal aborts. */
export async function runServer(node: NodeParts, given: Given, parts: ServerParts, signal: AbortSignal): Promise<void> {
  const { options, origins, clock, folded: log, tell, tracing, cluster } = node;
  const { certificate, threadPool, onListening } = parts;
  const openFiles = openFileLimit();
  const service = kubeletServer({
    options,
    origins,
    routes: allRoutes(node, given, threadPool, openFiles),
    api: cluster.exists ? cluster.clients.reviews : undefined,
    certificate,
    tell,
    tracing,
    nodeName: options.nodeName,
    openFiles,
    onListening,
    clock,
    log,
  });
  await service.run(signal);
}

function allRoutes(node: NodeParts, given: Given, threadPool: ThreadPoolWatch, openFiles: number): readonly Route[] {
  const { options, live, pods, statuses, engine, cluster, hostFiles, pleg, tell, verbosity, clock, folded: log } = node;
  const paths = (): readonly string[] => all.map(({ path }) => path);
  const own = serverRoutes({
    options,
    live,
    served: {
      pods,
      statusOf: (uid) => statuses.get(uid),
      runtime: engine.runtime,
      access: engine.access,
      mirrorUidOf: (pod) => cluster.apiPods.byName(podFullName(pod))?.metadata.uid,
    },
    hostFiles,
    engineDirectory: (signal) => engine.dataDirectory(signal),
    health: () => [...healthChecks({ pleg, threadPool, hostFiles }), ...given.node.flatMap((each) => each.health?.() ?? [])],
    tell,
    metricTexts: given.metricTexts,
    verbosity,
    paths,
    openFiles,
    clock,
    log,
  });
  const all = [...own, ...given.routes];
  return all;
}
