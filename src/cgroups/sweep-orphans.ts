import { concatMap, from, merge, type Observable } from 'rxjs';
import { firstOf } from '../base/first-of.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { PodUid } from '../model/pod.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodsInCgroups } from './pods-in-cgroups.ts';

export interface SweepOrphansDeps {
  readonly node: Pick<NodeParts, 'pods' | 'pleg' | 'engine' | 'log'>;
  readonly all: PodsInCgroups;
  readonly recoveries: Observable<unknown>;
  readonly signal: AbortSignal;
}

/**
 * Removes the cgroups of pods that ended while no agent was there to do it: once every source has spoken and the engine was listed, and after
 * each outage of the engine. One in which something runs is left and said: another engine's pods may be in the same cgroups.
 */
export function sweepOrphans({ node, all, recoveries, signal }: SweepOrphansDeps): Observable<void> {
  const { pods, pleg, engine, log } = node;
  const isKnown = async (uid: PodUid): Promise<boolean> => {
    const { containers, sandboxes } = await engine.runtime.observePod(uid, signal);
    // Declared since the sweep began: its cgroup is there before its sandbox.
    return containers.length > 0 || sandboxes.length > 0 || pods.get(uid) !== undefined;
  };
  const sweep = async (): Promise<void> => {
    const opened = await all.opened(signal);
    if (!opened) return;
    const listed = await firstOf(pleg.relists, signal);
    const known = [...listed.map(({ uid }) => uid), ...pods.list().map(({ pod }) => pod.metadata.uid)];
    for (const { path, processes } of await opened.pods.sweep(isKnown, known, signal)) {
      if (processes === 0) log.info('orphaned cgroup removed', { cgroup: path });
      else log.warn("orphaned cgroup left: processes run in it that are none of the engine's", { cgroup: path, processes });
    }
  };
  const synced = from(unlessAborted(pods.syncedOnce, signal).catch(() => {}));
  return merge(synced, recoveries).pipe(
    concatMap(async () => {
      try {
        await sweep();
      } catch (error) {
        if (!signal.aborted) log.warn('orphaned cgroups not removed, trying again when the agent starts', { error });
      }
    }),
  );
}
