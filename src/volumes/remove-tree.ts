import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { O_PATH } from './o-path.ts';
import { unlessMissing } from './unless-missing.ts';

/**
 * Removes a directory and all that is in it. Never goes through a mount or a link: rejects at the first thing that is mounted within, be it a
 * part of the same file system, with nothing of it touched. Succeeds when there is nothing.
 */
export async function removeTree(directory: string): Promise<void> {
  const parent = await openDirectory(dirname(directory));
  if (parent === undefined) return;
  try {
    await removeDirectory(parent, basename(directory), await mountId(parent), directory);
  } finally {
    await parent.close();
  }
}

async function removeDirectory(parent: FileHandle, name: string, mount: string, shown: string): Promise<void> {
  const path = `/proc/self/fd/${parent.fd}/${name}`;
  const directory = await openDirectory(path, constants.O_NOFOLLOW);
  if (directory === undefined) return;
  try {
    if ((await mountId(directory)) !== mount) throw new Error(`something is mounted at ${shown}: nothing is removed through it`);
    const held = `/proc/self/fd/${directory.fd}`;
    for (const entry of await readdir(held, { withFileTypes: true })) {
      if (entry.isDirectory()) await removeDirectory(directory, entry.name, mount, join(shown, entry.name));
      else await unlink(`${held}/${entry.name}`).catch(unlessMissing);
    }
  } finally {
    await directory.close();
  }
  await rmdir(path).catch(unlessMissing);
}

async function openDirectory(path: string, flags = 0): Promise<FileHandle | undefined> {
  try {
    return await open(path, O_PATH | constants.O_DIRECTORY | flags);
  } catch (error) {
    return unlessMissing(error);
  }
}

/** Tells two mounts of one file system apart, which the device number does not (proc(5), fdinfo). */
async function mountId({ fd }: FileHandle): Promise<string> {
  return /^mnt_id:\s*(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '';
}
