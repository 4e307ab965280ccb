import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';

/** Rejects where nothing can be made in a directory, by what it is and who may write there. Nothing is made. */
export async function mayBeMadeIn(directory: string): Promise<void> {
  if (!(await stat(directory)).isDirectory()) throw new Error(`${directory} is not a directory`);
  await access(directory, constants.W_OK | constants.X_OK);
}

/** Rejects where there is no directory, and none can be made with those above it. */
export async function directoryMayBeMade(path: string): Promise<void> {
  const found = await infoOf(path);
  if (found === undefined) {
    let above = dirname(path);
    while (above !== dirname(above) && (await infoOf(above)) === undefined) above = dirname(above);
    return mayBeMadeIn(above);
  }
  if (!found.isDirectory()) throw new Error(`${path} is not a directory`);
}

/** Rejects where a file can neither be opened for writing nor be made. */
export async function fileMayBeWritten(path: string): Promise<void> {
  const found = await infoOf(path);
  if (found === undefined) return mayBeMadeIn(dirname(path));
  if (!found.isFile()) throw new Error('it is not a regular file');
  await access(path, constants.R_OK | constants.W_OK);
}

async function infoOf(path: string) {
  return stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}
