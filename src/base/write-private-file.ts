import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from './make-directory.ts';

/** Writes a file for its owner alone, and its directory if need be. Whoever reads finds the old content or the new one, whole, also after a crash. */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  await makeDirectory(dirname(path), 0o755);
  const unfinished = `${path}.part`;
  await rm(unfinished, { force: true });
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}
