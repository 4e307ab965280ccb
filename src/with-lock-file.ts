import { takeFileLock } from './base/file-lock.ts';
import { followCommand } from './base/follow-command.ts';
import type { Logger } from './base/logger.ts';
import { unlessAborted } from './base/unless-aborted.ts';
import { notUsable } from './options/file-fault.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';

/**
 * Runs the agent with --lock-file locked, once it is; with --exit-on-lock-contention only until another process opens the file
 * (cmd/kubelet/app/server.go run). Resolves with 0 where `stop` aborts before the lock is there.
 */
export async function withLockFile(
  { lockFile: path, exitOnLockContention }: Pick<KubeletOptions, 'lockFile' | 'exitOnLockContention'>,
  log: Pick<Logger, 'info' | 'warn'>,
  stop: AbortSignal,
  run: (stop: AbortSignal) => Promise<number>,
): Promise<number> {
  const onWait = (holder: string | undefined): void =>
    log.warn('the lock file is locked by another process, and waited for', { path, holder: holder ?? 'none that can be seen' });
  const lock = await takeFileLock(path, { onWait, signal: stop }).catch((cause: unknown) => {
    if (stop.aborted) return undefined;
    throw new Error(`${notUsable.lockFile(path)} (--lock-file)`, { cause });
  });
  if (lock === undefined) {
    log.info('stopped before the lock file was free', { path });
    return 0;
  }
  log.info('lock file locked', { path });
  try {
    return exitOnLockContention ? await untilOpened(path, log, stop, run) : await run(stop);
  } finally {
    await lock.release();
  }
}

async function untilOpened(
  path: string,
  log: Pick<Logger, 'warn'>,
  stop: AbortSignal,
  run: (stop: AbortSignal) => Promise<number>,
): Promise<number> {
  const contended = new AbortController();
  const ended = new AbortController();
  const watching = Promise.withResolvers<void>();
  const onLine = (event: string): void => {
    if (contended.signal.aborted) return;
    log.warn('the lock file was opened or removed by another process: stopping, as --exit-on-lock-contention asks for', { path, event });
    contended.abort(new Error('lock contention'));
  };
  const onErrorLine = (line: string): void => {
    if (line.startsWith('Watches established')) watching.resolve();
  };
  const argv = ['--monitor', '--format', '%e', '--event', 'open', '--event', 'delete_self', path];
  const watch = followCommand('inotifywait', argv, { onLine, onErrorLine }, ended.signal).catch((cause: unknown) => {
    if (ended.signal.aborted || contended.signal.aborted) return;
    const error = new Error(`${path} is not watched for --exit-on-lock-contention: inotifywait is needed (Debian: inotify-tools)`, {
      cause,
    });
    watching.reject(error);
    log.warn('the lock file is watched no more: stopping', { path, error });
    contended.abort(error);
  });
  try {
    await unlessAborted(watching.promise, stop).catch((error: unknown) => {
      if (!stop.aborted) throw error;
    });
    // Where it is stopped already, it ends by itself, and says so.
    return await run(AbortSignal.any([stop, contended.signal]));
  } finally {
    ended.abort();
    await watch;
  }
}
