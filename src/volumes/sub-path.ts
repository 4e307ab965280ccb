import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import { O_PATH } from '../base/held-directory.ts';
import { isWithin } from '../base/mount-info.ts';
import { presentPart, realPath } from '../base/real-path.ts';
import { type Touch, touchDirectly } from '../base/touch.ts';
import type { HostTask } from '../ports/host-files.ts';
import type { Mounts } from './mounts.ts';

export interface SubPath {
  /** The directory of the whole volume. */
  readonly volume: string;
  readonly subPath: string;
  /** Where it is shown. */
  readonly target: string;
  /** Nothing is made where there is nothing. */
  readonly mustExist?: boolean;
}

/** The same of a volume that is the node's, or a server's. */
export const showHostSubPath = (mounts: Pick<Mounts, 'bind'>): HostTask<SubPath, void> => ({
  name: 'showSubPath',
  run: (asked, touch) => showSubPath(asked, mounts, touch),
});

/** For a volume of the agent's own: what a container has linked to outside is not even looked at, for that may never answer. */
export async function showOwnSubPath({ volume, subPath, ...how }: SubPath, mounts: Pick<Mounts, 'bind'>): Promise<void> {
  const real = await realpath(volume);
  await showSubPath({ volume: real, subPath, ...how }, mounts, async (path, call) => {
    if (!isWithin(path, real) && !isWithin(real, path)) throw new Error(`subPath "${subPath}" leads out of the volume`);
    return touchDirectly(path, call);
  });
}

/**
 * Shows the file or directory `subPath` of a volume at `target`, and makes it a directory where there is nothing (pkg/volume/util/subpath).
 * A container of the pod may change the volume meanwhile: each step is taken from a directory that is held open, and never over a link, so
 * that what is shown lies within the volume. Rejects where it does not.
 */
async function showSubPath(
  { volume, subPath, target, mustExist = false }: SubPath,
  mounts: Pick<Mounts, 'bind'>,
  touch: Touch,
): Promise<void> {
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.');
  if (subPath.startsWith('/') || parts.includes('..')) throw new Error(`subPath "${subPath}" must be a relative path without '..'`);
  const base = await realPath(volume, touch);
  const { mode } = await touch(base, () => stat(base));
  let at = await touch(base, () => open(base, O_PATH | constants.O_DIRECTORY));
  try {
    let path = base;
    const { there, missing } = await resolved(base, parts, touch);
    if (mustExist && missing.length > 0) throw new Error(`subPath "${subPath}" is not there`);
    for (const part of [...there, ...missing]) {
      path = join(path, part);
      const from = at;
      const next = await step((call) => touch(path, call), from, part, mode & 0o7777);
      await at.close();
      at = next;
    }
    const shown = at;
    await makeTarget(target, (await touch(path, () => shown.stat())).isDirectory());
    await mounts.bind(`/proc/${process.pid}/fd/${at.fd}`, target);
  } finally {
    await at.close();
  }
}

/** The same without the links that are there now. */
async function resolved(
  base: string,
  parts: readonly string[],
  touch: Touch,
): Promise<{ readonly there: readonly string[]; readonly missing: readonly string[] }> {
  const { real, missing } = await presentPart(`${base}/${parts.join('/')}`, touch);
  const within = relative(base, real);
  if (within.split('/')[0] === '..') throw new Error(`subPath "${parts.join('/')}" leads out of the volume`);
  return { there: within.split('/').filter((part) => part !== ''), missing };
}

async function step(touch: <T>(call: () => Promise<T>) => Promise<T>, from: FileHandle, part: string, mode: number): Promise<FileHandle> {
  const path = `/proc/self/fd/${from.fd}/${part}`;
  const enter = (): Promise<FileHandle> => touch(() => open(path, O_PATH | constants.O_NOFOLLOW));
  const next = await enter().catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    await touch(() => mkdir(path, { mode: 0o700 }));
    const made = await enter();
    // What was just opened, whatever the name stands for by now.
    if ((await touch(() => made.stat())).isDirectory()) await touch(() => chmod(`/proc/self/fd/${made.fd}`, mode));
    return made;
  });
  if (!(await touch(() => next.stat())).isSymbolicLink()) return next;
  await next.close();
  throw new Error(`"${part}" has become a link meanwhile`);
}

/** In the pod's own directory. What is mounted there from before is not looked at: it may not answer. */
async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const made = isDirectory ? mkdir(target, { mode: 0o700 }) : writeFile(target, '', { flag: 'wx' });
  await made.catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}
