import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorCode } from '../../../base/error-code.ts';
import type { LogPolicy } from '../../../model/log-policy.ts';
import { planLogRotation } from '../../../model/log-rotation.ts';
import type { TimestampedLogs } from './timestamped-logs.ts';

export interface RotateLogDeps {
  readonly names: TimestampedLogs;
  readonly policy: LogPolicy;
  /** The date. */
  readonly nowMs: number;
  /** Makes the runtime write to a new file at the path of the log. */
  readonly reopen: () => Promise<void>;
}

/**
 * Rotates a container's log where it is as large as it may be; one that is not there is begun (pkg/kubelet/logs/container_log_manager.go).
 * An abort of `signal` leaves off between two steps, and the log under its own name. Rejects where a file cannot be moved, or not be reopened:
 * then the log has its own name back.
 */
export async function rotateLog(path: string, { names, policy, nowMs, reopen }: RotateLogDeps, signal: AbortSignal): Promise<void> {
  const size = await sizeOf(path);
  if (size === undefined) return reopen();
  if (size < policy.maxSizeBytes) return;
  const directory = dirname(path);
  const { remove, compress, renameTo } = planLogRotation(basename(path), await readdir(directory), policy.maxFiles, nowMs);
  for (const name of remove) await rm(join(directory, name), { force: true });
  for (const name of compress) {
    signal.throwIfAborted();
    await compressLog(join(directory, name), signal);
  }
  signal.throwIfAborted();
  await names.whileRotating(path, async () => {
    const rotated = join(directory, renameTo);
    await rename(path, rotated);
    try {
      await reopen();
    } catch (error) {
      await rename(rotated, path);
      throw error;
    }
  });
}

/** Undefined: there is none. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What was left unfinished is removed by the next rotation. */
async function compressLog(path: string, signal: AbortSignal): Promise<void> {
  const { mode } = await stat(path);
  const unfinished = `${path}.tmp`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { mode: mode & 0o777 }), { signal });
  await rename(unfinished, `${path}.gz`);
  await rm(path, { force: true });
}
