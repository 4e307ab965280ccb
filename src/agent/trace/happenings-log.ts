import type { Logger } from '../../base/logger.ts';
import type { Happenings, QueueKey } from '../../ports/happenings.ts';

type Logged = 'relisted' | 'keyReady' | 'keyStarted' | 'keyEnded' | 'probeTried' | 'volumeMounted' | 'manifestRead' | 'leaseTried';

/**
 * What has no line of its own where it happens, under its stream's name: at `--v=4` what is not as it should be or comes seldom, at 5 what comes
 * again and again, which no more than the log has.
 */
export function happeningsLog(log: Logger): Pick<Happenings, Logged> {
  const [pleg, queue, probes] = [log.stream('pleg'), log.stream('queue'), log.stream('probes')];
  const [volumes, sources, lease] = [log.stream('volumes'), log.stream('sources'), log.stream('lease')];
  // Three for each look at a pod: no fields are made for a line that is not printed.
  const ofKey = (message: string, { queue: name, key }: QueueKey): void => {
    if (queue.enabled(5)) queue.v(5, message, { queue: name, uid: key });
  };
  return {
    relisted: ({ tookMs, intervalMs, pods }) => pleg.v(5, 'relisted', { pods: pods.length, tookMs, intervalMs }),
    keyReady: (key) => ofKey('run wanted', key),
    keyStarted: (key) => ofKey('run begun', key),
    keyEnded: (key) => ofKey('run ended', key),
    probeTried: ({ uid, container, kind, tookMs, outcome, message }) =>
      probes.v(outcome === 'success' ? 5 : 4, 'probed', { uid, container, kind, outcome, said: message, tookMs }),
    volumeMounted: ({ plugin, tookMs, failed }) =>
      volumes.v(failed ? 4 : 5, failed ? 'volume not mounted' : 'volume mounted', { plugin, tookMs }),
    manifestRead: (read) => sources.v(4, 'manifest read', { ...read }),
    leaseTried: ({ error }) => lease.v(4, error === undefined ? 'node lease renewed' : 'node lease not renewed', { why: error }),
  };
}
