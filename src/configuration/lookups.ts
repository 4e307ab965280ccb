import { lstat, readlink } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

/** A name that is looked up in a directory on the way to a path. */
export interface Lookup {
  readonly directory: string;
  readonly name: string;
}

/** As the kernel has it (MAXSYMLINKS). */
const MAX_LINKS = 40;

/**
 * All names that are looked up on the way to `path`, those of its links included: whatever changes where the path leads changes one of them.
 * Ends early at what is not there, and at links that lead in a circle.
 */
export async function lookupsOf(path: string): Promise<readonly Lookup[]> {
  const lookups: Lookup[] = [];
  let directory: string = sep;
  let names = namesOf(resolve(path));
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const full = join(directory, name);
    if (name !== '..') lookups.push({ directory, name });
    const target = await linkTarget(full);
    if (target === undefined) return lookups;
    if (target === '') {
      directory = full;
      continue;
    }
    if (++links > MAX_LINKS) return lookups;
    if (target.startsWith(sep)) directory = sep;
    names = [...namesOf(target), ...names];
  }
  return lookups;
}

const namesOf = (path: string): string[] => path.split(sep).filter((name) => name !== '' && name !== '.');

/** Empty: it is no link. Undefined: it is not there. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : '';
  } catch {
    return undefined;
  }
}
