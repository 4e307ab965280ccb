import { selinuxIsOn } from '../base/selinux-is-on.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { CsiVolumes } from '../ports/csi-volumes.ts';
import { tellGrown } from './claim-growth.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import { CsiNodeKeeper } from './csi-node-keeper.ts';
import { KnownVolumes } from './known-volumes.ts';
import { fileContext } from './selinux-context.ts';
import { NodeVolumes } from './node-volumes.ts';
import { Unstager } from './unstager.ts';
import { Upkeep } from './upkeep.ts';
import type { VolumeCalls } from './volume-calls.ts';
import { VolumeObjects } from './volume-objects.ts';
import { CsiPaths } from './volume-paths.ts';

export interface OpenCsi extends CsiVolumes {
  readonly known: Pick<KnownVolumes, 'inUse' | 'changes'>;
  /** What is done beside the pods, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** CSI volumes, with what an agent before this one has left of them. */
export async function openCsi(node: NodeParts, drivers: CsiDrivers): Promise<OpenCsi> {
  const { clock, random, folded: log, cluster, events, options, tell } = node;
  const { tokens, claims } = node.objects;
  const nodeName = node.node.name;
  const paths = new CsiPaths(options.rootDir);
  const known = new KnownVolumes(paths);
  const objects = new VolumeObjects({ cluster, nodeName, tokens, clock });
  let fileContextOnce: Promise<string | undefined> | undefined;
  const volumes = new NodeVolumes({
    clock,
    tell,
    drivers,
    paths,
    nodeName,
    known,
    objects,
    calls: () => calls(objects),
    grown: (task, signal) =>
      tellGrown(task, cluster.clients.main, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        // The pod has its volume. It is told with the next look at the volume.
        log.warn('a claim that has grown is not told of', { claim: task.name, error });
      }),
    idle: () => unstager.look(),
    fileContext: selinuxIsOn() ? () => (fileContextOnce ??= fileContext()) : async () => undefined,
  });
  const unstager = new Unstager({ known, volumes, drivers, clock, log });
  const upkeep = new Upkeep({ known, volumes, drivers, objects, claims, events, clock, random, log });
  const keeper = new CsiNodeKeeper({ cluster, nodeName, drivers, clock, random, log });
  await known.read(log);
  return {
    known,
    publish: async (task, signal) => {
      const path = await volumes.publish(task, signal);
      upkeep.look();
      return path;
    },
    unpublish: (uid, signal) => volumes.unpublish(uid, signal),
    remain: (uid) => volumes.remain(uid),
    hasContext: async (path) => volumes.hasContext(path),
    usage: async (uid, name, signal) => {
      if (known.usesOfPod(uid).length === 0) return undefined;
      const { volumeUsage } = await import('./volume-usage.ts');
      return volumeUsage({ known, drivers, clock }, uid, name, signal);
    },
    run: async (signal) => {
      await Promise.all([unstager.run(signal), upkeep.run(signal), ...(cluster.exists ? [keeper.run(signal)] : [])]);
    },
  };
}

/** What the calls are made with is loaded with the first one. */
async function calls(objects: VolumeObjects): Promise<VolumeCalls> {
  return new (await import('./volume-calls.ts')).VolumeCalls(objects);
}
