import type { BigIntStats } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** More descriptors are not looked through. */
const MOST = 100_000;

/**
 * The process that has a flock of the file: "kubelet, process 4711". /proc/locks would name the one that has taken it, which may have handed it
 * on and be gone. No file is asked, so none that hangs is waited for. Undefined: none that can be seen from here.
 */
export async function lockHolder({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>, proc = '/proc'): Promise<string | undefined> {
  const lock = new RegExp(`^lock:.*\\bFLOCK\\b.* ${deviceText(dev)}:${ino} `, 'm');
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  let left = MOST;
  for (const pid of pids) {
    const descriptors = await readdir(`${proc}/${pid}/fdinfo`).catch(() => []);
    for (const fd of descriptors) {
      if (left-- <= 0) return undefined;
      const info = await readFile(`${proc}/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '');
      if (lock.test(info)) return `${await nameOf(`${proc}/${pid}`)}, process ${pid}`;
    }
  }
  return undefined;
}

/** As the kernel writes it there: "fe:00". */
function deviceText(dev: bigint): string {
  const [major, minor] = [(dev >> 8n) & 0xfffn, (dev & 0xffn) | ((dev >> 12n) & 0xfff00n)];
  return [major, minor].map((part) => part.toString(16).padStart(2, '0')).join(':');
}

const nameOf = async (directory: string): Promise<string> => (await readFile(`${directory}/comm`, 'utf8').catch(() => 'a process')).trim();
