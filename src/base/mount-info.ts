import { readFileSync } from 'node:fs';

export interface MountPoint {
  readonly path: string;
  /** The path as it is: a name need not be UTF-8, and `path` then shows what cannot be said otherwise as U+FFFD. */
  readonly pathBytes: Buffer;
  /** What of its device is shown there: major:minor, and the directory within it. */
  readonly device: string;
  readonly root: string;
  readonly fsType: string;
  /** "/dev/sda1", "overlay" */
  readonly source: string;
  /** Whether mounts made below are seen by its peers. */
  readonly shared: boolean;
}

/** /proc/PID/mountinfo, in the order of mounting; where two are stacked on one path the last one shows (proc(5)). */
export function parseMountInfo(info: Buffer | string): readonly MountPoint[] {
  // A character a byte, until each field is by itself.
  const text = Buffer.from(info).toString('latin1');
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , device = '', root = '', path, , ...optional] = before.split(' ');
    if (path === undefined) return [];
    const [fsType = '', source = ''] = after.split(' ');
    const shared = optional.some((field) => field.startsWith('shared:'));
    const pathBytes = unescaped(path);
    const [rootText, sourceText] = [unescaped(root).toString(), unescaped(source).toString()];
    return [{ path: pathBytes.toString(), pathBytes, device, root: rootText, fsType, source: sourceText, shared }];
  });
}

/** Blanks, tabs, line ends and backslashes are written in octal. */
const unescaped = (field: string): Buffer =>
  Buffer.from(
    field.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8))),
    'latin1',
  );

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

/** What is mounted where this process looks. Asks the kernel alone, no disk; it costs more the more is mounted. */
export const mountsNow = (): readonly MountPoint[] => parseMountInfo(readFileSync('/proc/self/mountinfo'));
