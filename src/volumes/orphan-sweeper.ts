import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { Service } from '../base/service.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodVolumes } from './pod-volumes.ts';

export interface OrphanSweeperDeps {
  readonly volumes: Pick<PodVolumes, 'sweep'>;
  /** Resolves once every source has spoken: until then any pod may be known. */
  readonly synced: (signal: AbortSignal) => Promise<void>;
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
      await synced(signal);
      const faults = new OngoingFaults<PodUid>();
      for (;;) {
        try {
          const { removed, failed } = await volumes.sweep((uid) => isKnown(uid, signal), signal);
          for (const uid of removed) log.info('orphaned pod directory removed', { uid });
          faults.retain((uid) => failed.has(uid));
          for (const [uid, error] of failed)
            if (faults.fault(uid, error)) log.warn('orphaned pod directory not removed, retrying', { uid, error });
        } catch (error) {
          if (signal.aborted) return;
          log.v(3, 'orphaned pod directories not listed', { error });
        }
        await clock.sleep(SWEEP_MS, signal);
      }
    },
  };
}
