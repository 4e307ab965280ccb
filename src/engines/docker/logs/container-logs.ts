import { access, constants } from 'node:fs/promises';
import type { ContainerInspectInfo } from 'dockerode';
import type { LogOptions, LogPiece } from '../../../ports/container-access.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { engineLogs } from './engine-logs.ts';
import { inspectContainer } from '../client/inspect-container.ts';
import type { LogWatches } from '../../common/logs/log-watches.ts';
import { numberedLogs } from '../../common/logs/rotated-logs.ts';
import { readLog } from '../../common/logs/read-log.ts';
import { existingContainer } from '../client/running-container.ts';

export interface LogsDeps {
  readonly client: EngineClient;
  readonly watches: LogWatches;
}

/**
 * See ContainerAccess.logs. The engine's own file is read where there is one that this process can read, as that is many times faster
 * than asking the engine and can be followed by many.
 */
export async function* containerLogs(
  { client, watches }: LogsDeps,
  id: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  if (signal.aborted) return;
  let info: ContainerInspectInfo;
  try {
    info = await existingContainer(client, id, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const path = options.follow && info.State.Running ? await readableLogFile(info) : undefined;
  if (path === undefined) {
    yield* writtenLog(client, info, options, signal);
    return;
  }
  const watch = watches.open(path, () => isRunning(client, info.Id));
  try {
    yield* readLog(path, numberedLogs, options, watch, signal);
  } finally {
    watch.close();
  }
}

/** The same of what is there by now; where there is no file to be read, the engine may follow what runs. */
export async function* writtenLog(
  client: EngineClient,
  info: ContainerInspectInfo,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  const path = await readableLogFile(info);
  if (path === undefined) yield* engineLogs(client, info.Id, info.Config.Tty, options, signal);
  else yield* readLog(path, numberedLogs, options, undefined, signal);
}

async function readableLogFile({ HostConfig, LogPath }: ContainerInspectInfo): Promise<string | undefined> {
  const driver: unknown = HostConfig.LogConfig?.Type;
  if ((driver !== 'json-file' && driver !== 'k8s-file') || LogPath === '') return undefined;
  try {
    await access(LogPath, constants.R_OK);
    return LogPath;
  } catch {
    return undefined;
  }
}

async function isRunning(client: EngineClient, id: string): Promise<boolean> {
  // Asked for all who follow: none of them aborts it.
  const info = await inspectContainer(client, id, new AbortController().signal);
  return info?.State.Running === true;
}
