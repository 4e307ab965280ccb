import { readdir } from 'node:fs/promises';
import { isMissingFile } from './error-code.ts';

/** The names in a directory; none where there is no such directory. Rejects where it cannot be read. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (isMissingFile(error)) return [];
    throw error;
  });
}
