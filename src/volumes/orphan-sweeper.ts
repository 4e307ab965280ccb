import type { Observable } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { firstOf } from '../base/first-of.ts';
import type { Logger } from '../base/logger.ts';
import type { Service } from '../base/service.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodVolumes } from './pod-volumes.ts';

export interface OrphanSweeperDeps {
  readonly volumes: Pick<PodVolumes, 'sweep'>;
  /** Emits once every source has spoken: until then any pod may be known. */
  readonly synced: Observable<unknown>;
  /** Whether a source declares the pod, or something of it runs. */
  readonly isKnown: (uid: PodUid, signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How often what could not be removed is tried again, and what another agent may have left is looked for. */
const SWEEP_MS = 60_000;

/** Removes the directories of pods that ended while no agent was there to do it (pkg/kubelet cleanupOrphanedPodDirs). */
export function orphanSweeper({ volumes, synced, isKnown, clock, log }: OrphanSweeperDeps): Service {
  return {
    name: 'orphaned volumes',
    run: async (signal) => {
      await firstOf(synced, signal);
      const told = new Map<PodUid, string>();
      for (;;) {
        try {
          const { removed, failed } = await volumes.sweep((uid) => isKnown(uid, signal), signal);
          for (const uid of removed) log.info('removed what an orphaned pod had left on disk', { uid });
          for (const uid of told.keys()) if (!failed.has(uid)) told.delete(uid);
          for (const [uid, error] of failed) {
            if (told.get(uid) === errorText(error)) continue;
            told.set(uid, errorText(error));
            log.warn('what an orphaned pod has left on disk cannot be removed yet', { uid, error });
          }
        } catch (error) {
          if (signal.aborted) return;
          log.v(3, 'orphaned pods cannot be looked for now', { error });
        }
        await clock.sleep(SWEEP_MS, signal);
      }
    },
  };
}
