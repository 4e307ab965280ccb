import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** More is no directory of settings. */
const MAX_NAMES = 1_000;

/**
 * What is no directory in a directory and in those below it, by its path from there, in the order of Go's filepath.WalkDir: by name, each
 * directory with what is in it. A link counts as a file, wherever it leads. Rejects where a directory cannot be read, and for more than a
 * thousand names.
 */
export async function filesUnder(directory: string): Promise<readonly string[]> {
  const files: string[] = [];
  let names = 0;
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(directory, below), { withFileTypes: true });
    names += entries.length;
    if (names > MAX_NAMES) throw new Error(`more than ${MAX_NAMES} names`);
    for (const entry of entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))) {
      const path = join(below, entry.name);
      if (entry.isDirectory()) await walk(path);
      else files.push(path);
    }
  };
  await walk('');
  return files;
}
