import { merge, Subject } from 'rxjs';
import { aborted } from '../base/aborted.ts';
import { selinuxIsOn } from '../base/selinux-is-on.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import { noCsiVolumes } from '../ports/csi-volumes.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { ContainerAdditions } from '../ports/pod-participant.ts';
import type { Staged } from '../ports/staged.ts';
import { Attachments } from './attachments.ts';
import { disksWhenNeeded } from './disks/disks-when-needed.ts';
import { realRoots } from './disks/machine-roots.ts';
import { flexDrivers } from './flex-drivers.ts';
import { systemMounts } from './mounts.ts';
import { orphanSweeper } from './orphan-sweeper.ts';
import { podVolumes } from './pod-volumes.ts';
import { VolumeGrowth } from './volume-growth.ts';

/** A pod's volumes: made before its containers start, kept up to date while they run, removed with it. */
export function capability(node: NodeParts): Contribution {
  const { options, clock, log, events, tell, hostFiles, objects, cluster } = node;
  const { tokens, claims } = objects;
  const allocatable = (): Readonly<Record<string, string>> => node.node.resources.allocatable();
  // What the capability of the drivers contributes.
  let csi = noCsiVolumes;
  const stop = new AbortController();
  const mounts = systemMounts({ clock, silent: () => hostFiles.silent(), stop: stop.signal });
  const attachments = new Attachments({ cluster, byController: options.enableControllerAttachDetach, clock });
  const flex = flexDrivers(options.volumePluginDir, clock);
  const nodeName = node.node.name;
  const disks = disksWhenNeeded(options.rootDir, async () => {
    const { openDisks } = await import('./disks/open-disks.ts');
    return openDisks({ rootDir: options.rootDir, nodeName, flex, roots: realRoots, mounts, attachments, clock, tell, log: node.folded });
  });
  const growth = new VolumeGrowth({ claims, api: cluster.clients.main, events, clock, random: node.random, log: node.folded });
  let looked = false;
  const changes = new Subject<void>();
  const found = Promise.withResolvers<void>();
  const volumes = podVolumes({
    rootDir: options.rootDir,
    clock,
    events,
    tell,
    mounts,
    flex,
    disks,
    growth,
    nodeName,
    csi: () => csi,
    hostFiles,
    selinux: selinuxIsOn(),
    engineFeatures: (signal) => node.engine.features(signal),
    images: node.engine.images,
    factsFor: (pod) => ({ objects: objects.for(pod), tokens, claims, allocatable, node: () => cluster.node() }),
  });
  const sweeper = orphanSweeper({
    volumes,
    synced: (signal) => unlessAborted(node.pods.syncedOnce, signal),
    isKnown: (uid, signal) => isKnown(node, uid, signal),
    clock,
    log,
  });
  const devicesOf = (pod: Pod, container: Container): ContainerAdditions => {
    const devices = volumes.devicesFor(pod, container);
    return devices.length > 0 ? { devices } : {};
  };
  return {
    pod: {
      prepare: (pod, signal) => volumes.prepare(pod, signal),
      isPrepared: (pod) => volumes.isPrepared(pod),
      container: async (pod, container, { env, images }, signal) => ({
        mounts: await volumes.mountsFor(pod, container, env, signal, images),
        ...devicesOf(pod, container),
      }),
      tearDown: (uid, signal) => volumes.tearDown(uid, signal),
      release: (uid, signal) => volumes.remove(uid, signal),
      remains: async (uid) => ((await volumes.remain(uid)) ? 'volumes' : undefined),
    },
    node: { volumesInUse: () => (looked ? attachments.inUse() : undefined), changes: merge(changes, attachments.changes) },
    metricTexts: [async () => volumes.metrics()],
    volumeFiles: { read: (pod, volume, path, signal) => volumes.readFile(pod, volume, path, signal) },
    services: [
      {
        name: 'volumes of drivers',
        stage: 'before pods',
        run: async (signal, given) => {
          csi = given.csi;
          await aborted(signal);
        },
      },
      {
        name: 'disks of before',
        stage: 'before pods',
        run: async (signal) => {
          await disks.find().catch((error: unknown) => log.warn('disks that an agent before this one has left cannot be found', { error }));
          looked = true;
          changes.next();
          found.resolve();
          await aborted(signal);
        },
        ready: (signal) => unlessAborted(found.promise, signal),
      },
      { name: 'disks that no pod has', stage: 'beside pods', run: (signal) => disks.run(signal) },
      { name: 'volumes that grow', stage: 'beside pods', run: (signal) => growth.run(signal) },
      { name: sweeper.name, stage: 'beside pods', run: (signal) => sweeper.run(signal) },
      endOfMounts(stop),
    ],
  };
}

/** The last stage stops first: a mount that hangs holds up nothing when the agent stops. */
const endOfMounts = (stop: AbortController): Staged => ({
  name: 'end of mounts',
  stage: 'server',
  run: async (signal) => {
    await aborted(signal);
    stop.abort(signal.reason);
  },
});

/** Whether a source declares the pod, or something of it is in the engine. */
async function isKnown({ pods, engine }: Pick<NodeParts, 'pods' | 'engine'>, uid: PodUid, signal: AbortSignal): Promise<boolean> {
  if (pods.get(uid) !== undefined) return true;
  const { containers, sandboxes } = await engine.runtime.observePod(uid, signal);
  return containers.length > 0 || sandboxes.length > 0;
}
