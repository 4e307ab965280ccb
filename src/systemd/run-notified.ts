import { auditTime, map, merge, of } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { drainInto } from '../base/drain-into.ts';
import { monotonicUsec } from '../base/monotonic-usec.ts';
import type { Logger } from '../base/logger.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Staged } from '../ports/staged.ts';
import type { ServiceManager } from './service-manager.ts';
import { ServiceNotifier, type ServiceState } from './service-notifier.ts';

export interface RunNotifiedDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly manager: ServiceManager;
  readonly privileged: boolean;
  readonly program?: string;
}

/** Makes what runs beside the agent's own services. */
export type Announcing = (node: Pick<NodeParts, 'pods' | 'updates' | 'live'>) => readonly Staged[];

const CLOSED_WITHIN_MS = 2000;
/** A STATUS says how it is, not each change. */
const STATUS_AFTER_MS = 1000;

/**
 * Runs the agent and says to the service manager what becomes of it: READY once it serves and has looked at what it could read, STATUS,
 * STOPPING, RELOADING and READY where the configuration has changed; and WATCHDOG at half of its time from the start on, for as long as the main loop turns.
 */
export async function runNotified<T>(
  agent: (announcing: Announcing) => Promise<T>,
  { manager: { socket, watchdogMs }, ...deps }: RunNotifiedDeps,
  stop: AbortSignal,
): Promise<T> {
  const { clock, log } = deps;
  const notifier = new ServiceNotifier({ ...deps, socket });
  const ended = new AbortController();
  const onStop = (): void => notifier.notify({ STOPPING: '1', STATUS: 'stopping; the pods stay as they are' });
  stop.addEventListener('abort', onStop, { once: true });
  notifier.notify({ STATUS: 'starting: waiting for the engine and the node' });
  const watchdog = watchdogMs === undefined ? undefined : keepWatchdog(notifier, watchdogMs / 2, clock, ended.signal);
  if (watchdogMs !== undefined) log.info('keeping the watchdog of the service manager', { everyMs: watchdogMs / 2 });
  try {
    return await agent((node) => [announcement(node, notifier, clock)]);
  } finally {
    stop.removeEventListener('abort', onStop);
    if (!stop.aborted) notifier.notify({ STOPPING: '1', STATUS: 'stopped; the log says why' });
    ended.abort();
    await watchdog;
    await notifier.close(CLOSED_WITHIN_MS);
  }
}

/** Each is sent from a timer of the main loop: while that is blocked, none is. */
async function keepWatchdog(notifier: ServiceNotifier, everyMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    notifier.notify({ WATCHDOG: '1' });
    await clock.sleep(everyMs, signal).catch(() => {});
  }
}

const announcement = (
  { pods, updates, live }: Pick<NodeParts, 'pods' | 'updates' | 'live'>,
  notifier: Pick<ServiceNotifier, 'notify'>,
  clock: Clock,
): Staged => ({
  name: 'service manager',
  stage: 'announcements',
  run: async (signal) => {
    notifier.notify({ READY: '1' });
    const changes = merge(of(undefined), updates.pipe(auditTime(STATUS_AFTER_MS, clock)), pods.syncedOnce);
    // A change of the config file counts at once: when that is heard of it is over.
    const reloaded = (): void => {
      notifier.notify({ RELOADING: '1', MONOTONIC_USEC: `${monotonicUsec()}` });
      notifier.notify({ READY: '1' });
    };
    await Promise.all([
      drainInto(changes.pipe(map(() => statusOf(pods))), (state) => notifier.notify(state), signal),
      drainInto(live.changes, reloaded, signal),
    ]);
  },
});

function statusOf(pods: NodeParts['pods']): ServiceState {
  const declared = `serving; pods: ${pods.list().length}`;
  return { STATUS: pods.synced ? declared : `${declared}; not all of their sources have been read yet` };
}
