import { spawn } from 'node:child_process';
import { constants, type BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { abortable } from './abortable.ts';
import { killGroup } from './kill-group.ts';
import { lockHolder } from './lock-holder.ts';

export interface FileLock {
  /** The file's own handle: the lock lasts until it is closed, or this process ends, however it does. */
  release(): Promise<void>;
}

export interface FileLockHow {
  /** The lock is held by another, which is named where it can be found out; it is waited for. */
  onWait(holder: string | undefined): void;
  readonly signal: AbortSignal;
}

/** Of flock(1). */
const HELD_BY_ANOTHER = 1;

/**
 * Takes flock's exclusive lock of the file, created for root alone where it is missing, and waits until its holder has released it. Node has no
 * call for that: util-linux's flock takes it on a descriptor that this process shares with it, so the lock is this process's, and no other is
 * needed to keep it. Rejects where the path can be no lock file, and with the signal's reason when that aborts first.
 */
export async function takeFileLock(path: string, how: FileLockHow): Promise<FileLock> {
  for (;;) {
    const file = await openLockFile(path);
    try {
      const found = await file.stat({ bigint: true });
      if (!found.isFile()) throw new Error('it is not a regular file');
      if (!(await flock(file, ['--nonblock'], how.signal))) {
        how.onWait(await lockHolder(found).catch(() => undefined));
        await flock(file, [], how.signal);
      }
      // One that was removed while it was waited for locks nothing.
      if (await isStillAt(path, found)) return { release: () => file.close() };
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
  }
}

/** As the kubelet's (pkg/util/flock); a FIFO or a device does not block. */
const openLockFile = (path: string): Promise<FileHandle> => open(path, constants.O_CREAT | constants.O_RDWR | constants.O_NONBLOCK, 0o600);

async function isStillAt(path: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const now = await stat(path, { bigint: true }).catch(() => undefined);
  return now?.dev === dev && now.ino === ino;
}

/** Whether the lock was taken. */
function flock(file: FileHandle, argv: readonly string[], signal: AbortSignal): Promise<boolean> {
  return abortable(signal, (resolve, reject) => {
    // It ends with this process, even after kill -9: a waiting flock that is left behind would take a lock that no agent uses.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'flock', '--exclusive', ...argv, '3'], {
      stdio: ['ignore', 'ignore', 'pipe', file.fd],
      detached: true,
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, 500);
    });
    child.once('error', (cause) => reject(new Error('flock and setpriv of util-linux are needed for a lock file', { cause })));
    child.once('close', (code, by) => {
      if (code === 0) resolve(true);
      else if (code === HELD_BY_ANOTHER && said === '') resolve(false);
      else reject(new Error(`flock ended (${by ?? `exit code ${code}`}): ${said.trim()}`));
    });
    return (aborted) => {
      if (aborted) killGroup(child.pid);
    };
  });
}
