import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Touch } from './touch.ts';

/** The kernel's own bound (path_resolution(7)). */
const MAX_LINKS = 40;

/** As realpath(3), but goes one step at a time, so that it is known of each step where it looks. `path` is absolute. */
export async function realPath(path: string, touch: Touch): Promise<string> {
  let done = '/';
  const ahead = partsOf(path);
  let links = 0;
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === '..') {
      done = dirname(done);
      continue;
    }
    const at = join(done, part);
    if (!(await touch(at, () => lstat(at))).isSymbolicLink()) {
      done = at;
      continue;
    }
    if (++links > MAX_LINKS) throw Object.assign(new Error(`ELOOP: too many symbolic links in ${path}`), { code: 'ELOOP' });
    const target = await touch(done, () => readlink(at));
    if (target.startsWith('/')) done = '/';
    ahead.unshift(...partsOf(target));
  }
  return done;
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');
