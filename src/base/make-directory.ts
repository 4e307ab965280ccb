import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';

/**
 * Makes a directory and those above it, where they are missing. Node's own `recursive` never ends where the system says of a new name in a
 * directory that is there that it does not exist, as /proc does.
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path) throw error;
    await makeDirectory(above, mode);
    await mkdir(path, { mode });
  }
}
