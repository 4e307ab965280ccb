import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface Descriptors {
  readonly open: number;
  /** Files and directories whose changes the kernel tells the process. */
  readonly watches: number;
}

export async function descriptorsOf(pid: number): Promise<Descriptors> {
  const open = await readdir(`/proc/${pid}/fdinfo`);
  const infos = await Promise.all(open.map((fd) => readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '')));
  return { open: open.length, watches: infos.flatMap((info) => info.match(/^inotify /gm) ?? []).length };
}

/** The command lines of the processes that it has started and that still run. */
export async function childrenOf(pid: number): Promise<readonly string[]> {
  return Promise.all(
    (await childIds(pid)).map(async (id) => (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')),
  );
}

/** Resolves when all that it has started and that runs now has ended. */
export async function endOfChildren(pid: number): Promise<void> {
  const execute = promisify(execFile);
  await Promise.all((await childIds(pid)).map((id) => execute('tail', [`--pid=${id}`, '-f', '/dev/null'])));
}

async function childIds(pid: number): Promise<readonly string[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter((id) => id !== '');
}

/** By how much values grow from one to the next: the median of what each two say (Theil and Sen), which single ones that stand out do not move. */
export function slope(values: readonly number[]): number {
  const slopes = values.flatMap((from, i) => values.slice(i + 1).map((to, distance) => (to - from) / (distance + 1))).sort((a, b) => a - b);
  const middle = slopes.length / 2;
  return ((slopes[Math.ceil(middle) - 1] ?? 0) + (slopes[Math.floor(middle)] ?? 0)) / 2;
}

/** Memory that is of the process alone, without pages of files, in bytes. */
export interface OwnMemory {
  /** What the C library has for small pieces. It grows to the most that was ever wanted at once, and by what lies between pieces in use. */
  readonly pieces: number;
  /** All else: V8's heap and compiled code, larger pieces, stacks. */
  readonly rest: number;
}

export async function ownMemory(pid: number): Promise<OwnMemory> {
  const own = { pieces: 0, rest: 0 };
  let part: keyof OwnMemory = 'rest';
  for (const line of (await readFile(`/proc/${pid}/smaps`, 'utf8')).split('\n')) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) part = line.endsWith('[heap]') ? 'pieces' : 'rest';
    else own[part] += Number(/^Anonymous:\s+(\d+) kB$/.exec(line)?.[1] ?? 0) * 1024;
  }
  if (own.rest === 0) throw new Error(`/proc/${pid}/smaps does not say what is anonymous`);
  return own;
}
