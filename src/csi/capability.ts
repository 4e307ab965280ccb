import { aborted } from '../base/aborted.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { tellGrown } from './claim-growth.ts';
import { CsiDrivers } from './csi-drivers.ts';
import { CsiNodeKeeper } from './csi-node-keeper.ts';
import { KnownVolumes } from './known-volumes.ts';
import { NodeVolumes } from './node-volumes.ts';
import { Unstager } from './unstager.ts';
import { Upkeep } from './upkeep.ts';
import type { VolumeCalls } from './volume-calls.ts';
import { VolumeObjects } from './volume-objects.ts';
import { CsiPaths } from './volume-paths.ts';

/** Volumes that drivers bring which register on the node (CSI). Before the first one, nothing is asked for and nothing runs. */
export function capability(node: NodeParts): Contribution {
  const { clock, random, folded: log, cluster, events, options } = node;
  const { tokens, claims } = node.objects;
  const nodeName = node.node.name;
  const drivers = new CsiDrivers({ clock, random, log });
  const keeper = new CsiNodeKeeper({ cluster, nodeName, drivers, clock, random, log });
  const paths = new CsiPaths(options.rootDir);
  const known = new KnownVolumes(paths);
  const objects = new VolumeObjects({ cluster, nodeName, tokens, clock });
  const volumes = new NodeVolumes({
    drivers,
    paths,
    nodeName,
    known,
    objects,
    calls: () => calls(objects),
    grown: (task, signal) => tellGrown(task, cluster.clients.main, signal),
    idle: () => unstager.look(),
  });
  const unstager = new Unstager({ known, volumes, drivers, clock, log });
  const upkeep = new Upkeep({ known, volumes, drivers, objects, claims, events, clock, random, log });
  const read = Promise.withResolvers<void>();
  return {
    plugins: [drivers],
    node: { volumesInUse: () => known.inUse(), changes: known.changes },
    csi: {
      publish: async (task, signal) => {
        const path = await volumes.publish(task, signal);
        upkeep.look();
        return path;
      },
      unpublish: (uid, signal) => volumes.unpublish(uid, signal),
      remain: (uid) => volumes.remain(uid),
      usage: async (uid, name, signal) => {
        if (known.usesOfPod(uid).length === 0) return undefined;
        const { volumeUsage } = await import('./volume-usage.ts');
        return volumeUsage({ known, drivers, clock }, uid, name, signal);
      },
    },
    services: [
      {
        name: 'CSI volumes',
        stage: 'before pods',
        run: async (signal) => {
          await known.read(log);
          read.resolve();
          await aborted(signal);
          drivers.close();
        },
        ready: (signal) => unlessAborted(read.promise, signal),
      },
      { name: 'CSI volumes of no pod', stage: 'beside pods', run: (signal) => unstager.run(signal) },
      { name: 'upkeep of CSI volumes', stage: 'beside pods', run: (signal) => upkeep.run(signal) },
      ...(cluster.exists ? [{ name: 'CSINode', stage: 'followers', run: (signal: AbortSignal) => keeper.run(signal) } as const] : []),
    ],
  };
}

/** What the calls are made with is loaded with the first one. */
async function calls(objects: VolumeObjects): Promise<VolumeCalls> {
  return new (await import('./volume-calls.ts')).VolumeCalls(objects);
}
