import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMissingFile } from './error-code.ts';
import type { Touch } from './touch.ts';

/** The kernel's own bound (path_resolution(7)). */
const MAX_LINKS = 40;

/** The kernel's own bound (limits.h PATH_MAX), less the closing zero. */
const LONGEST_PATH_BYTES = 4_095;

/** What there is of a path, free of links, and the parts that follow it, as they are written. */
export interface PresentPart {
  readonly real: string;
  readonly missing: readonly string[];
  /** Why the first missing part was not found. */
  readonly fault?: unknown;
}

/** As realpath(3), but goes one step at a time, so that it is known of each step where it looks. `path` is absolute. */
export async function realPath(path: string, touch: Touch): Promise<string> {
  const { real, missing, fault } = await presentPart(path, touch);
  if (missing.length > 0) throw fault;
  return real;
}

/**
 * The same for a path of which the end need not be there; a link that leads to nothing is missing itself. Rejects with all other errors. The
 * whole is one walk: a pod says how long the path is and makes the links on it, up to the kernel's own bounds. `root`, free of links itself, is
 * what the path is looked up in, as by a process whose root directory it is: no link and no `..` leads out of it.
 */
export async function presentPart(path: string, touch: Touch, root = '/'): Promise<PresentPart> {
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) {
    throw coded('ENAMETOOLONG', `a path of more than ${LONGEST_PATH_BYTES} bytes is too long: ${path.slice(0, SHOWN_CHARS)}…`);
  }
  const parts = partsOf(path);
  let real = root;
  let links = 0;

  /** From `real` to where `part` leads. */
  const follow = async (part: string): Promise<string> => {
    let at = real;
    const ahead = [part];
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      if (next === '..') {
        if (at !== root) at = dirname(at);
        continue;
      }
      const [from, to] = [at, join(at, next)];
      at = to;
      if (!(await touch(to, () => lstat(to))).isSymbolicLink()) continue;
      if (++links > MAX_LINKS) throw coded('ELOOP', `ELOOP: too many symbolic links in ${path}`);
      const target = await touch(from, () => readlink(to));
      at = target.startsWith('/') ? root : from;
      ahead.unshift(...partsOf(target));
    }
    return at;
  };

  for (const [index, part] of parts.entries()) {
    try {
      real = await follow(part);
    } catch (fault) {
      if (!isMissingFile(fault)) throw fault;
      return { real, missing: parts.slice(index), fault };
    }
  }
  return { real, missing: [] };
}

const SHOWN_CHARS = 100;

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');
