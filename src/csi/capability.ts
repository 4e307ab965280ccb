import { aborted } from '../base/aborted.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { CsiDrivers } from './csi-drivers.ts';
import { CsiNodeKeeper } from './csi-node-keeper.ts';

/** Volumes that drivers bring which register on the node (CSI). Before the first one, nothing is asked for and nothing runs. */
export function capability(node: NodeParts): Contribution {
  const { clock, random, folded: log, cluster } = node;
  const drivers = new CsiDrivers({ clock, random, log });
  const keeper = new CsiNodeKeeper({ cluster, nodeName: node.node.name, drivers, clock, random, log });
  return {
    plugins: [drivers],
    services: [
      {
        name: 'CSI drivers',
        stage: 'before pods',
        run: async (signal) => {
          await aborted(signal);
          drivers.close();
        },
      },
      ...(cluster.exists ? [{ name: 'CSINode', stage: 'followers', run: (signal: AbortSignal) => keeper.run(signal) } as const] : []),
    ],
  };
}
