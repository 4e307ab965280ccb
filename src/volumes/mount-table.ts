import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';

export interface MountPoint {
  readonly path: string;
  /** What of its device is shown there: major:minor, and the directory within it. */
  readonly device: string;
  readonly root: string;
  readonly fsType: string;
  /** Whether mounts made below are seen by its peers. */
  readonly shared: boolean;
}

/** What is mounted, in the order in which it was; where two are stacked on one path the last one shows (proc(5), mountinfo). */
export async function mountTable(): Promise<readonly MountPoint[]> {
  return parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
}

export function parseMountInfo(text: string): readonly MountPoint[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , device = '', root = '', path, , ...optional] = before.split(' ');
    if (path === undefined) return [];
    const [fsType = ''] = after.split(' ');
    return [
      { path: unescaped(path), device, root: unescaped(root), fsType, shared: optional.some((field) => field.startsWith('shared:')) },
    ];
  });
}

/** Blanks, tabs, line ends and backslashes are written in octal. */
const unescaped = (text: string): string => text.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));

/** Whether `path` is `directory` or lies below it; both without a slash at the end. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** The mount that a path, free of links, lies on. */
export function mountOf(table: readonly MountPoint[], path: string): MountPoint | undefined {
  const around = table.filter((each) => isWithin(path, each.path));
  const longest = Math.max(...around.map((each) => each.path.length));
  return around.findLast((each) => each.path.length === longest);
}

/** Where else the directory `path`, free of links, is mounted (GetMountRefs in k8s.io/mount-utils). */
export function otherMountsOf(table: readonly MountPoint[], path: string): readonly string[] {
  const on = mountOf(table, path);
  if (on === undefined) return [];
  const root = [on.root === '/' ? '' : on.root, relative(on.path, path)].join('/').replace(/\/$/, '') || '/';
  return table.filter((each) => each.device === on.device && each.root === root && each.path !== path).map((each) => each.path);
}
