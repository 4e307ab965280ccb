import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';

/**
 * Makes a directory and those above it, where they are missing. Node's own `recursive` never ends where the system says of a new name in a
 * directory that is there that it does not exist, as /proc does.
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if (errorCode(error) !== 'ENOENT' || above === path) throw error;
    await makeDirectory(above, mode);
    await makeOne(path, mode);
  }
}

/** Succeeds where another process was quicker. */
async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
  }
}
