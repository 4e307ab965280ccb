import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { mountOf, type MountPoint, parseMountInfo } from '../base/mount-info.ts';

/** What is mounted where this process looks. */
export async function mountTable(): Promise<readonly MountPoint[]> {
  return parseMountInfo(await readFile('/proc/self/mountinfo'));
}

/** Where else the directory `path`, free of links, is mounted (GetMountRefs in k8s.io/mount-utils). */
export function otherMountsOf(table: readonly MountPoint[], path: string): readonly string[] {
  const on = mountOf(table, path);
  if (on === undefined) return [];
  const root = [on.root === '/' ? '' : on.root, relative(on.path, path)].join('/').replace(/\/$/, '') || '/';
  return table.filter((each) => each.device === on.device && each.root === root && each.path !== path).map((each) => each.path);
}
