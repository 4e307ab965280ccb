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

/** What the process has of the system's memory that is in no file (RssAnon). Bytes. */
export async function ownMemory(pid: number): Promise<number> {
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kib === undefined) throw new Error(`/proc/${pid}/status does not say RssAnon`);
  return Number(kib) * 1024;
}
