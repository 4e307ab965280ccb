import { aborted } from '../base/aborted.ts';
import { drainInto } from '../base/drain-into.ts';
import type { Contribution, Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { explainRoutes } from './explain-routes.ts';
import { KnownManifests } from './known-manifests.ts';
import { KnownPods } from './known-pods.ts';
import { NodeWatch } from './node-watch.ts';

/** Why pods, and the node, are in the state that they are in. Listens, remembers the last of everything, and explains when somebody asks. */
export function capability(node: NodeParts): Contribution {
  const { clock, options, statuses } = node;
  const known = new KnownPods({ clock, pods: node.pods, remembersGone: options.timelineMaxMib > 0 });
  const manifests = new KnownManifests(clock);
  const watch = new NodeWatch(clock);
  let given: Given | undefined;
  return {
    listener: { ...known.listener, ...manifests.listener, ...watch.listener },
    routes: explainRoutes({ node, known, manifests, watch, given: () => given }),
    services: [
      {
        name: 'statuses to explain',
        stage: 'before pods',
        run: (signal) => drainInto(statuses.changes, (change) => known.statusChanged(change), signal),
      },
      {
        name: 'node to explain',
        stage: 'beside pods',
        run: async (signal, all) => {
          given = all;
          await aborted(signal);
        },
      },
    ],
  };
}
