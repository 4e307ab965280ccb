import { ThreadPoolWatch } from '../base/thread-pool-watch.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Staged } from '../ports/staged.ts';

/** The node's own server, with its own routes and those of all other capabilities. */
export function capability(node: NodeParts): Contribution {
  const { options, clock, cluster } = node;
  const certificate = cluster.servingCertificate(() => node.node.addresses());
  const threadPool = new ThreadPoolWatch({ clock });
  const listening = Promise.withResolvers<void>();
  const server: Staged = {
    name: 'server',
    stage: 'server',
    // Pods come first: what serves is loaded after their first looks.
    run: async (signal, given) => {
      const { runServer } = await import('./run-server.ts');
      await runServer(node, given, { certificate, threadPool, onListening: () => listening.resolve() }, signal);
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
