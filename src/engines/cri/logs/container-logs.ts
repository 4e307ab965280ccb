import type { LogOptions, LogPiece } from '../../../ports/container-access.ts';
import type { LogWatches } from '../../common/logs/log-watches.ts';
import { readLog } from '../../common/logs/read-log.ts';
import type { LogNames } from '../../common/logs/rotated-logs.ts';

/** Of one container, as the runtime says it. */
export interface LoggedContainer {
  /** Empty: it keeps none. */
  readonly logPath: string;
  readonly running: boolean;
}

export interface ContainerLogsDeps {
  readonly names: LogNames;
  readonly watches: LogWatches;
  /** Rejects, in words for people, when there is no such container. */
  readonly look: (id: string, signal: AbortSignal) => Promise<LoggedContainer>;
}

/** See ContainerAccess.logs. */
export async function* containerLogs(
  { names, watches, look }: ContainerLogsDeps,
  id: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  if (signal.aborted) return;
  let container: LoggedContainer;
  try {
    container = await look(id, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const { logPath, running } = container;
  if (logPath === '') throw new Error(`the runtime keeps no log of container ${id}: it was made without a log path`);
  if (!options.follow || !running) {
    yield* readLog(logPath, names, options, undefined, signal);
    return;
  }
  // Asked for all who follow: none of them aborts it.
  const watch = watches.open(logPath, async () => (await look(id, new AbortController().signal)).running);
  try {
    yield* readLog(logPath, names, options, watch, signal);
  } finally {
    watch.close();
  }
}
