import { aborted } from '../base/aborted.ts';
import type { Contribution, Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { planRoutes } from './plan-routes.ts';

/** What would become of the pods if other manifests took the place of those of the manifest directory, said when somebody asks. */
export function capability(node: NodeParts): Contribution {
  let given: Given | undefined;
  return {
    routes: planRoutes({ node, given: () => given }),
    services: [
      {
        name: 'plans',
        stage: 'beside pods',
        run: async (signal, all) => {
          given = all;
          await aborted(signal);
        },
      },
    ],
  };
}
