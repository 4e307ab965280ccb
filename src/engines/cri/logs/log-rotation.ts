import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { LogPolicy } from '../../../model/log-policy.ts';
import type { ContainerId } from '../../../ports/container-runtime.ts';
import type { Staged } from '../../../ports/staged.ts';
import { rotateLog } from './rotate-log.ts';
import type { TimestampedLogs } from './timestamped-logs.ts';

/** A container that runs, and where the runtime writes what it says. */
export interface LoggingContainer {
  readonly id: ContainerId;
  readonly logPath: string;
}

export interface LogRotationSettings {
  /** Undefined: none is rotated. */
  readonly policy: LogPolicy | undefined;
  /** How often the sizes are looked at (containerLogMonitorInterval). */
  readonly intervalMs: number;
  /** How many logs are rotated at a time (containerLogMaxWorkers). */
  readonly workers: number;
}

export interface LogRotationDeps {
  /** As they are now. */
  readonly settings: () => LogRotationSettings;
  readonly names: TimestampedLogs;
  readonly running: (signal: AbortSignal) => Promise<readonly LoggingContainer[]>;
  /** As CRI's ReopenContainerLog. */
  readonly reopen: (id: ContainerId, signal: AbortSignal) => Promise<void>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly log: Logger;
}

/** A runtime that speaks CRI writes logs and leaves it to the agent to rotate them (pkg/kubelet/logs/container_log_manager.go). */
export function logRotation(deps: LogRotationDeps): Staged {
  const { settings, clock, log } = deps;
  return {
    name: 'log rotation',
    stage: 'beside pods',
    run: async (signal) => {
      if (settings().policy === undefined) log.info('container logs are not rotated: containerLogMaxSize is negative');
      const complained = new Map<ContainerId, string>();
      while (!signal.aborted) {
        const { policy, intervalMs, workers } = settings();
        if (policy !== undefined) await rotateAll(policy, workers, deps, complained, signal);
        await clock.sleep(intervalMs, signal).catch(() => {});
      }
    },
  };
}

/** `complained`: what was said of which container. Each trouble is said once. */
async function rotateAll(
  policy: LogPolicy,
  workers: number,
  { running, reopen, names, clock, log }: LogRotationDeps,
  complained: Map<ContainerId, string>,
  signal: AbortSignal,
): Promise<void> {
  // A runtime that does not answer is reported by others.
  const waiting = [...(await running(signal).catch(() => []))];
  const ids = new Set(waiting.map(({ id }) => id));
  for (const id of complained.keys()) if (!ids.has(id)) complained.delete(id);
  const rotateNext = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined && !signal.aborted; next = waiting.pop()) {
      const { id, logPath } = next;
      try {
        // Once the old file has been moved the new one has to come, also as the agent ends.
        await rotateLog(logPath, { names, policy, nowMs: clock.now(), reopen: () => reopen(id, new AbortController().signal) }, signal);
        complained.delete(id);
      } catch (error) {
        const text = String(error);
        if (signal.aborted || complained.get(id) === text) continue;
        complained.set(id, text);
        log.warn('a container log cannot be rotated; it grows until it can', { container: id, logPath, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, workers) }, rotateNext));
}
