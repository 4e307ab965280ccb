import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Subject } from 'rxjs';
import { aborted } from '../base/aborted.ts';
import { exists } from '../base/exists.ts';
import { firstOf } from '../base/first-of.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { CsiDrivers } from './csi-drivers.ts';
import type { OpenCsi } from './open-csi.ts';

/**
 * Volumes that drivers bring which register on the node (CSI). Before the first driver, or the first such volume, nothing is asked for, nothing runs,
 * and next to nothing is loaded.
 */
export function capability(node: NodeParts): Contribution {
  const { clock, random, folded: log, options, tell } = node;
  const drivers = new CsiDrivers({ clock, random, log, tell });
  const changes = new Subject<void>();
  const first = Promise.withResolvers<OpenCsi>();
  let opening: Promise<OpenCsi> | undefined;
  let opened: OpenCsi | undefined;
  let looked = false;
  const open = (): Promise<OpenCsi> =>
    (opening ??= (async () => {
      const { openCsi } = await import('./open-csi.ts');
      opened = await openCsi(node, drivers);
      opened.known.changes.subscribe(changes);
      first.resolve(opened);
      return opened;
    })());
  const ready = Promise.withResolvers<void>();
  return {
    plugins: [drivers],
    node: { volumesInUse: () => opened?.known.inUse() ?? (looked ? [] : undefined), changes },
    csi: {
      publish: async (task, signal) => (await open()).publish(task, signal),
      // What is on the disk has been found, or is being found, before the first pod is looked at.
      unpublish: async (uid, signal) => (await opening)?.unpublish(uid, signal),
      hasContext: async (path) => (await opening)?.hasContext(path) ?? false,
      remain: async (uid) => (await opening)?.remain(uid) ?? false,
      usage: async (uid, name, signal) => (await opening)?.usage(uid, name, signal),
    },
    services: [
      {
        name: 'CSI volumes',
        stage: 'before pods',
        run: async (signal) => {
          if (await hasVolumes(options.rootDir)) await open();
          looked = true;
          changes.next();
          ready.resolve();
          if (opening === undefined) await firstOf(drivers.changes, signal).then(open).catch(failedUnlessAborted(signal));
          await aborted(signal);
          drivers.close();
        },
        ready: (signal) => unlessAborted(ready.promise, signal),
      },
      {
        name: 'upkeep of CSI volumes',
        stage: 'beside pods',
        run: async (signal) => {
          const csi = await unlessAborted(first.promise, signal).catch(failedUnlessAborted(signal));
          await csi?.run(signal);
        },
      },
    ],
  };
}

/** What an error is for, where it is not the end. */
const failedUnlessAborted =
  (signal: AbortSignal) =>
  (error: unknown): undefined => {
    if (!signal.aborted) throw error;
    return undefined;
  };

/** Whether an agent before this one had such volumes here. */
async function hasVolumes(rootDir: string): Promise<boolean> {
  const pods = join(rootDir, 'pods');
  const uids = await readdir(pods).catch(() => []);
  const places = [
    join(rootDir, 'plugins/kubernetes.io/csi'),
    ...uids.flatMap((uid) => ['volumes', 'volumeDevices'].map((each) => join(pods, uid, each, 'kubernetes.io~csi'))),
  ];
  for (const place of places) if (await exists(place)) return true;
  return false;
}
