import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import type { Mounts } from './mounts.ts';
import { O_PATH } from '../base/held-directory.ts';

/**
 * Shows the file or directory `subPath` of a volume at `target`, and makes it a directory where there is nothing (pkg/volume/util/subpath).
 * A container of the pod may change the volume meanwhile: each step is taken from a directory that is held open, and never over a link, so
 * that what is shown lies within the volume. Rejects where it does not.
 */
export async function showSubPath(volume: string, subPath: string, target: string, mounts: Pick<Mounts, 'bind'>): Promise<void> {
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.');
  if (subPath.startsWith('/') || parts.includes('..')) throw new Error(`subPath "${subPath}" must be a relative path without '..'`);
  const base = await realpath(volume);
  const { mode } = await stat(base);
  let at = await open(base, O_PATH | constants.O_DIRECTORY);
  try {
    for (const part of await resolved(base, parts)) {
      const next = await step(at, part, mode & 0o7777);
      await at.close();
      at = next;
    }
    await makeTarget(target, (await at.stat()).isDirectory());
    await mounts.bind(`/proc/${process.pid}/fd/${at.fd}`, target);
  } finally {
    await at.close();
  }
}

/** The same without the links that are there now. */
async function resolved(base: string, parts: readonly string[]): Promise<readonly string[]> {
  for (let known = parts.length; known > 0; known--) {
    const path = await realpath(join(base, ...parts.slice(0, known))).catch(() => undefined);
    if (path === undefined) continue;
    const within = relative(base, path);
    if (within.split('/')[0] === '..') throw new Error(`subPath "${parts.join('/')}" leads out of the volume`);
    return [...within.split('/').filter((part) => part !== ''), ...parts.slice(known)];
  }
  return parts;
}

async function step(from: FileHandle, part: string, mode: number): Promise<FileHandle> {
  const path = `/proc/self/fd/${from.fd}/${part}`;
  const enter = (): Promise<FileHandle> => open(path, O_PATH | constants.O_NOFOLLOW);
  const next = await enter().catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(path, { mode: 0o700 });
    const made = await enter();
    // What was just opened, whatever the name stands for by now.
    if ((await made.stat()).isDirectory()) await chmod(`/proc/self/fd/${made.fd}`, mode);
    return made;
  });
  if (!(await next.stat()).isSymbolicLink()) return next;
  await next.close();
  throw new Error(`"${part}" has become a link meanwhile`);
}

async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await mkdir(isDirectory ? target : dirname(target), { recursive: true, mode: 0o700 });
  if (!isDirectory) await writeFile(target, '', { flag: 'a' });
}
