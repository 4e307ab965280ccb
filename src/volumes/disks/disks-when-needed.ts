import { namesIn } from '../../base/names-in.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { Disks, OpenDisks } from './disks.ts';
import { diskPlugins } from './disk-order.ts';
import { DiskPaths } from './disk-paths.ts';

/** Disks that are opened with the first pod that has one, or where a process before this one has left some. */
export interface DisksWhenNeeded extends Disks {
  /** Opens them where something is there already. */
  find(): Promise<void>;
  /** What is done about them beside the pods, until `signal` aborts; nothing before there is one. */
  run(signal: AbortSignal): Promise<void>;
}

export function disksWhenNeeded(rootDir: string, open: () => Promise<OpenDisks>): DisksWhenNeeded {
  const first = Promise.withResolvers<OpenDisks>();
  let opening: Promise<OpenDisks> | undefined;
  const opened = (): Promise<OpenDisks> => {
    opening ??= open();
    // Where it fails the next one tries again.
    opening.then(first.resolve, () => (opening = undefined));
    return opening;
  };
  return {
    publish: async (order, signal) => (await opened()).publish(order, signal),
    grow: async (disk, signal) => (await opened()).grow(disk, signal),
    unpublish: async (uid, signal) => (await opening)?.unpublish(uid, signal),
    remain: async (uid) => (await opening)?.remain(uid) ?? false,
    attachIscsi: async (disk, auth, signal) => (await opened()).attachIscsi(disk, auth, signal),
    attachFc: async (disk, signal) => (await opened()).attachFc(disk, signal),
    find: async () => {
      const paths = new DiskPaths(rootDir);
      for (const { directory } of diskPlugins.flatMap((plugin) => paths.above(plugin))) {
        if ((await namesIn(directory)).length > 0) await opened();
      }
    },
    run: async (signal) => {
      const disks = await unlessAborted(first.promise, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return undefined;
      });
      await disks?.run(signal);
    },
  };
}
