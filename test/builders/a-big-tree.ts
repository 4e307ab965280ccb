import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';

/** As long as a name may be, and no UTF-8. */
export const longestName = (n: number | string = ''): Buffer =>
  Buffer.concat([Buffer.alloc(255 - `${n}`.length, 0xff), Buffer.from(`${n}`)]);

/** Directories in one another, as a container makes them with mkdir and chdir: the innermost has no path that any call would take. */
export function makeDeep(top: string, depth: number, name: Buffer = Buffer.from('d')): void {
  let at = openSync(top, constants.O_DIRECTORY);
  for (let i = 0; i < depth; i++) {
    const path = Buffer.concat([Buffer.from(`/proc/self/fd/${at}/`), name]);
    mkdirSync(path);
    const below = openSync(path, constants.O_DIRECTORY);
    closeSync(at);
    at = below;
  }
  writeFileSync(`/proc/self/fd/${at}/innermost`, '');
  closeSync(at);
}

/** Empty files in one directory. */
export function makeWide(top: string, width: number, nameOf: (n: number) => Buffer = (n) => Buffer.from(`${n}`)): void {
  for (let i = 0; i < width; i++) closeSync(openSync(Buffer.concat([Buffer.from(`${top}/`), nameOf(i)]), 'wx'));
}
