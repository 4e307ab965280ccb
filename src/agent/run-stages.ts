import { aborted } from '../base/aborted.ts';
import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import type { Given } from '../ports/contribution.ts';
import { type Stage, type Staged, stages } from '../ports/staged.ts';

/** As long may a service take until it is ready, in milliseconds. */
export const READY_WITHIN_MS = 60_000;
/** As long may the services of a stage take to stop. */
export const STOPPED_WITHIN_MS = 30_000;
/** As long may all stages take together: systemd kills what has not ended after 90 s. */
export const ALL_STOPPED_WITHIN_MS = 60_000;
/** Who takes longer is named while it is waited for. */
const NAMED_AFTER_MS = 5_000;
/** So much has each stage, however long those after it took. */
const LEAST_TO_STOP_MS = 1_000;

export interface RunStagesDeps {
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly given: Given;
}

/**
 * Starts the stages left to right, each once all of the one before are ready; on abort or the first failure stops what has started right to
 * left, each stage drained before the next; one that takes too long is left behind, and all of them together have a minute. Rejects with the
 * services that failed, and with those that were not ready or have not stopped in time.
 */
export async function runStages(services: readonly Staged[], { clock, log, given }: RunStagesDeps, stop: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  const failed = new AbortController();
  const fail = (error: unknown): void => {
    failures.push(error);
    failed.abort(error);
  };
  using ending = anySignal(stop, failed.signal);
  const started: Started[] = [];
  for (const stage of stages) {
    if (ending.signal.aborted) break;
    const own = services.filter((each) => each.stage === stage);
    const controller = new AbortController();
    const running = new Set(own.map(({ name }) => name));
    const run = async (service: Staged): Promise<void> => {
      try {
        await service.run(controller.signal, given);
      } catch (error) {
        // Stopped while it was still getting ready, or at work: that is no failure.
        if (controller.signal.aborted && isCausedBy(error, controller.signal.reason)) return;
        fail(new Error(`service ${service.name} failed`, { cause: error }));
      } finally {
        running.delete(service.name);
      }
    };
    started.push({ stage, controller, running, settled: Promise.all(own.map(run)) });
    try {
      await untilReady(stage, own, clock, ending.signal);
    } catch (error) {
      if (!ending.signal.aborted) fail(error);
    }
  }
  await aborted(ending.signal);
  const untilMs = clock.monotonicMs() + ALL_STOPPED_WITHIN_MS;
  for (const each of started.reverse()) {
    each.controller.abort();
    try {
      await untilStopped(each, { clock, log }, untilMs);
    } catch (error) {
      fail(error);
    }
  }
  if (failures.length > 1) throw new Error(failures.map(errorText).join('; '), { cause: failures[0] });
  failed.signal.throwIfAborted();
}

interface Started {
  readonly stage: Stage;
  readonly controller: AbortController;
  readonly settled: Promise<unknown>;
  /** By name. */
  readonly running: ReadonlySet<string>;
}

async function untilStopped(
  { stage, settled, running }: Started,
  { clock, log }: Pick<RunStagesDeps, 'clock' | 'log'>,
  untilMs: number,
): Promise<void> {
  const slow = clock.schedule(() => log.warn('waiting for services to stop', { stage, services: [...running] }), NAMED_AFTER_MS);
  const withinMs = Math.min(STOPPED_WITHIN_MS, Math.max(LEAST_TO_STOP_MS, untilMs - clock.monotonicMs()));
  try {
    await withDeadline(clock, withinMs, 'stopping', new AbortController().signal, (within) => unlessAborted(settled, within));
  } catch (cause) {
    throw new Error(`not stopped, in the stage "${stage}": ${[...running].join(', ')}`, { cause });
  } finally {
    slow.unsubscribe();
  }
}

function isCausedBy(error: unknown, reason: unknown): boolean {
  for (let at = error; at !== undefined && at !== null; at = at instanceof Error ? at.cause : undefined) if (at === reason) return true;
  return false;
}

async function untilReady(
  stage: Stage,
  services: readonly Staged[],
  clock: Pick<Clock, 'schedule' | 'monotonicMs'>,
  signal: AbortSignal,
): Promise<void> {
  const late = new Set(services.flatMap((each) => ('ready' in each ? [each.name] : [])));
  if (late.size === 0) return;
  try {
    await withDeadline(clock, READY_WITHIN_MS, 'getting ready', signal, (within) => {
      const ready = services.map(async (service) => {
        await service.ready?.(within);
        late.delete(service.name);
      });
      // Also where one of them takes no notice of the signal.
      return unlessAborted(Promise.all(ready), within);
    });
  } catch (cause) {
    throw new Error(`not ready, in the stage "${stage}": ${[...late].join(', ')}`, { cause });
  }
}
