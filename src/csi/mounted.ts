import { lstat, mkdir, realpath, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, isMissingFile } from '../base/error-code.ts';
import { isWithin, mountsNow } from '../base/mount-info.ts';

/** Whether something is mounted at the path, whose last part is no link, or below it. What is mounted is not looked at: it may not answer. */
export async function isMounted(path: string): Promise<boolean> {
  const real = await realParent(path);
  return real !== undefined && mountsNow().some((each) => isWithin(each.path, real));
}

async function realParent(path: string): Promise<string | undefined> {
  try {
    return join(await realpath(dirname(path)), basename(path));
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

/** Rejects for what a driver left that no container may be shown: a link leads anywhere on the node. What is mounted is no link. */
export async function checkPublished(target: string, isBlock: boolean): Promise<void> {
  if (await isMounted(target)) return;
  const found = await lstat(target).catch((error: unknown) => {
    if (isMissingFile(error)) return undefined;
    throw error;
  });
  const fits = isBlock ? found?.isBlockDevice() : found?.isDirectory();
  if (fits !== true) {
    const kind = found === undefined ? 'nothing' : found.isSymbolicLink() ? 'a link' : 'something else';
    throw new Error(
      `the driver says that the volume is published, but there is ${kind} at ${target} in place of ${isBlock ? 'a device' : 'a directory'}`,
    );
  }
}

/** Removes what a driver may have left of a directory or a device's file at which nothing is mounted any more. Rejects for a directory that is not empty. */
export async function removeTarget(path: string): Promise<void> {
  if (await isMounted(path)) throw new Error(`the driver says that the volume is gone, but something is still mounted at ${path}`);
  try {
    await rmdir(path);
  } catch (error) {
    if (isMissingFile(error) && errorCode(error) === 'ENOENT') return;
    if (errorCode(error) !== 'ENOTDIR') throw error;
    await unlink(path);
  }
}

/** For the next part of a path. Those above are there or made; it need not be looked at. */
export async function makeDirectoryAt(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await mkdir(path, { mode: 0o750 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}

/** Succeeds where it is gone, or another uses it. */
export async function removeEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) throw error;
  });
}

/** Where below `directory` something is mounted that is a part of what is mounted at `path`. */
export async function otherMountsOf(path: string, directory: string): Promise<string | undefined> {
  const [real, within] = [await realParent(path), await realParent(directory)];
  const table = mountsNow();
  const own = table.findLast((each) => each.path === real);
  if (own === undefined || within === undefined) return undefined;
  return table.find((each) => each.device === own.device && isWithin(each.root, own.root) && isWithin(each.path, within))?.path;
}
