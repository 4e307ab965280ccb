import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';
import { makeDirectory } from './make-directory.ts';

/** What a crash may leave beside a file: PATH.part. The next write of that file takes its place. */
export const UNFINISHED = '.part';

/**
 * Writes a file for its owner alone, and its directory if need be. Readers find the old content or the new one, whole, also after a crash of
 * the agent or of the machine; what this has resolved for is on the disk. Where it rejects, the old content stays and no disk space is kept
 * (an error in the very last step, which makes the new name durable, comes after the new content is in place). One write of a path at a time.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const directory = dirname(path);
  await makeDirectory(directory, 0o755);
  const unfinished = path + UNFINISHED;
  await rm(unfinished, { force: true });
  try {
    await writeWhole(unfinished, content);
    await rename(unfinished, path);
  } catch (error) {
    // Mostly the disk is full.
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  }
  await syncDirectory(directory);
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name is safe only with the directory that it is in. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some file systems sync no directories.
    if (!['EINVAL', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    await directory.close();
  }
}
