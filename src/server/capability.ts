import { openFileLimit } from '../base/open-file-limit.ts';
import { ThreadPoolWatch } from '../base/thread-pool-watch.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { podFullName } from '../model/pod.ts';
import type { Contribution, Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Route } from '../ports/route.ts';
import type { Staged } from '../ports/staged.ts';
import { healthChecks } from './health-checks.ts';
import { kubeletServer } from './kubelet-server.ts';
import { serverRoutes } from './server-routes.ts';

/** The node's own server, with its own routes and those of all other capabilities. */
export function capability(node: NodeParts): Contribution {
  const { options, origins, clock, folded: log, tell, cluster } = node;
  const certificate = cluster.servingCertificate(() => node.node.addresses());
  const threadPool = new ThreadPoolWatch({ clock });
  const listening = Promise.withResolvers<void>();
  const server: Staged = {
    name: 'server',
    stage: 'server',
    run: (signal, given) => {
      const openFiles = openFileLimit();
      const service = kubeletServer({
        options,
        origins,
        routes: allRoutes(node, given, threadPool, openFiles),
        api: cluster.exists ? cluster.clients.reviews : undefined,
        certificate,
        tell,
        nodeName: options.nodeName,
        openFiles,
        onListening: () => listening.resolve(),
        clock,
        log,
      });
      return service.run(signal);
    },
    ready: (signal) => unlessAborted(listening.promise, signal),
  };
  // Before the server: it shows what is there from its first connection on.
  const renewing: Staged = {
    name: certificate.name,
    stage: 'beside pods',
    run: (signal, given) => certificate.run(signal, given),
    ready: (signal) => certificate.ready?.(signal) ?? Promise.resolve(),
  };
  const watching: Staged = { name: threadPool.name, stage: 'server', run: (signal) => threadPool.run(signal) };
  return { services: [...(options.enableServer ? [renewing] : []), server, watching] };
}

function allRoutes(node: NodeParts, given: Given, threadPool: ThreadPoolWatch, openFiles: number): readonly Route[] {
  const { options, pods, statuses, engine, cluster, hostFiles, pleg, tell, setVerbosity, clock, folded: log } = node;
  const paths = (): readonly string[] => all.map(({ path }) => path);
  const own = serverRoutes({
    options,
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
    setVerbosity,
    paths,
    openFiles,
    clock,
    log,
  });
  const all = [...own, ...given.routes];
  return all;
}
