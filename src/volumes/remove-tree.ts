import { type Dirent, readFileSync } from 'node:fs';
import { type FileHandle, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import { heldEntries, heldPath, holdDirectory, pathIn, shownName } from '../base/held-directory.ts';
import { unlessMissing } from './unless-missing.ts';

/**
 * Removes a directory and all that is in it, however deep and wide, with a few descriptors and little memory. Never goes through a mount or a
 * link: rejects at the first thing that is mounted within, be it a part of the same file system, with nothing of it touched. What an abort or
 * a crash leaves, the next call removes. Succeeds when there is nothing.
 *
 * Pods make directories in one another deeper than a path can say, and as many as they like, so that there is no way down and up again that is
 * short enough to remember. Therefore a directory that is not empty is moved up into the one that is removed, and is emptied there. Each step
 * is taken from a directory that is held open: a container may exchange what has a name.
 */
export async function removeTree(directory: string, signal?: AbortSignal): Promise<void> {
  const parent = await holdDirectory(dirname(directory), { follow: true }).catch(unlessMissing);
  if (parent === undefined) return;
  try {
    const path = join(heldPath(parent), basename(directory));
    const top = await holdDirectory(path).catch(unlessMissing);
    if (top === undefined) return;
    try {
      const tree: Tree = { top, shown: directory, mount: mountId(parent), signal };
      checkMount(tree, top, directory);
      for await (const { name } of heldEntries(top)) await removeFromTop(tree, name);
    } finally {
      await top.close();
    }
    await rmdir(path).catch(unlessMissing);
  } finally {
    await parent.close();
  }
}

interface Tree {
  readonly top: FileHandle;
  /** Its path, for people. */
  readonly shown: string;
  readonly mount: string;
  readonly signal: AbortSignal | undefined;
}

/** What was moved up has these names, counted from 0. An agent before may have left some. */
const nameOfMoved = (n: number): string => `..removing-${n}`;

/** What is moved up meanwhile comes first, the last one before all: so it is never much that waits. */
async function removeFromTop(tree: Tree, name: string): Promise<void> {
  let isThere = true;
  for (let waiting = 0; isThere || waiting > 0;) {
    const last = waiting > 0 ? nameOfMoved(waiting - 1) : name;
    const { isGone, movedTo } = await emptyAndRemove(tree, last, waiting);
    if (isGone && last === name) isThere = false;
    // One that is gone, but has others above it, is found to be gone when its turn comes.
    waiting = movedTo > waiting || !isGone ? movedTo : Math.max(0, waiting - 1);
  }
}

interface Pass {
  readonly isGone: boolean;
  /** The number that the next one that is moved up will have. */
  readonly movedTo: number;
}

/** Removes what `name` of the top is or holds, but for directories that are not empty, which become those that were moved up as `movedTo` and on. */
async function emptyAndRemove(tree: Tree, name: string, movedTo: number): Promise<Pass> {
  const { top, signal } = tree;
  const path = pathIn(top, name);
  const shown = join(tree.shown, shownName(name));
  let directory: FileHandle;
  try {
    directory = await holdDirectory(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOTDIR') return { isGone: unlessMissing(error) === undefined, movedTo };
    return { isGone: await isRemovedAsItWas(unlink(path), shown), movedTo };
  }
  let [removed, next]: [number, number] = [0, movedTo];
  let fault: unknown;
  try {
    checkMount(tree, directory, shown);
    for await (const entry of heldEntries(directory)) {
      signal?.throwIfAborted();
      const entryPath = pathIn(directory, entry.name);
      const entryShown = join(shown, shownName(entry.name));
      if (await isEntryRemoved(entry, entryPath, entryShown)) {
        removed++;
        continue;
      }
      try {
        next = await moveUp(tree, entryPath, entryShown, next);
      } catch (error) {
        if (!isFull(error)) throw error;
        // Its turn comes again, when others are removed and there is room.
        fault = error;
      }
    }
  } finally {
    await directory.close();
  }
  const isGone = await isRemovedAsItWas(rmdir(path), shown);
  if (!isGone && removed === 0 && next === movedTo)
    throw fault ?? new Error(`${shown} cannot be emptied: something is made in it all the time`);
  return { isGone, movedTo: next };
}

/** Rejects where the top has room for no more. */
async function moveUp({ top }: Tree, path: Buffer, shown: string, from: number): Promise<number> {
  for (let n = from; ; n++) {
    try {
      await rename(path, pathIn(top, nameOfMoved(n)));
      return n + 1;
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT') return n;
      // An agent before moved up another one to that name, and it has its turn among these.
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR' && code !== 'EISDIR') throw unlessMounted(error, shown);
    }
  }
}

/** False for a directory that is not empty. */
async function isEntryRemoved(entry: Dirent, path: Buffer, shown: string): Promise<boolean> {
  const [first, second] = entry.isDirectory() ? [rmdir, unlink] : [unlink, rmdir];
  try {
    return await isRemoved(first(path), shown);
  } catch (error) {
    // Another thing has taken its place, or the file system does not say of what kind it is.
    if (errorCode(error) !== 'EISDIR' && errorCode(error) !== 'ENOTDIR') throw error;
    return isRemovedAsItWas(second(path), shown);
  }
}

/** Rejects where another kind of thing has taken its place since it was looked at: that may happen for ever. */
async function isRemovedAsItWas(removal: Promise<void>, shown: string): Promise<boolean> {
  try {
    return await isRemoved(removal, shown);
  } catch (error) {
    if (errorCode(error) !== 'EISDIR' && errorCode(error) !== 'ENOTDIR') throw error;
    throw new Error(`${shown} cannot be emptied: something else takes its place all the time`, { cause: error });
  }
}

async function isRemoved(removal: Promise<void>, shown: string): Promise<boolean> {
  try {
    await removal;
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return true;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw unlessMounted(error, shown);
  }
}

function unlessMounted(error: unknown, shown: string): unknown {
  return errorCode(error) === 'EBUSY' ? mountedAt(shown) : error;
}

const mountedAt = (shown: string): Error => new Error(`something is mounted at ${shown}: nothing is removed through it`);

/** No room for another name: on the disk, in what the owner may use of it, or of directories in one directory (ext4, 65,000 without dir_nlink). */
function isFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EMLINK';
}

function checkMount({ mount }: Tree, directory: FileHandle, shown: string): void {
  if (mountId(directory) !== mount) throw mountedAt(shown);
}

/** Tells two mounts of one file system apart, which the device number does not (proc(5), fdinfo). Asks no disk, and so nothing to wait for. */
function mountId({ fd }: FileHandle): string {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '';
}
