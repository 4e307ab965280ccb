import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import type { Logger } from '../base/logger.ts';
import type { PodUid } from '../model/pod.ts';

const retryMs = exponential(1_000, 30_000);

export interface OrphanedClaims {
  /** Those that had claims when an agent before this one ended. */
  readonly uids: Iterable<PodUid>;
  /** Whether the pod is declared, or something of it is in the engine: then its end is waited for as that of all pods. */
  readonly isKnown: (uid: PodUid) => Promise<boolean>;
  readonly unprepare: (uid: PodUid) => Promise<void>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Unprepares the claims of pods that ended while no agent ran: nobody else knows of them. Each is tried until it works. */
export async function unprepareOrphans({ uids, isKnown, unprepare, clock, log, signal }: OrphanedClaims): Promise<void> {
  const one = async (uid: PodUid): Promise<void> => {
    let last: string | undefined;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (await isKnown(uid)) return;
        await unprepare(uid);
        log.info('claims of a pod that is gone are unprepared', { uid });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const found = errorText(error);
        if (found !== last) log.warn('claims of a pod that is gone are not unprepared, retrying', { uid, error: found });
        last = found;
        await clock.sleep(retryMs(++failures), signal).catch(() => {});
      }
    }
  };
  await Promise.all([...uids].map(one));
}
