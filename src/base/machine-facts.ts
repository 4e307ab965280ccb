import { readdir, readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** What the machine is made of. */
export interface MachineFacts {
  readonly cores: number;
  readonly memoryBytes: number;
  /** 0: none. */
  readonly swapBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly hugePages: readonly { readonly pageSizeKiB: number; readonly pages: number }[];
}

/** Where the kernel says what the machine is; another root is for tests. */
export interface MachinePaths {
  readonly root: string;
  /** Files that may hold the machine's id; the first that can be read counts. Default: the usual ones. */
  readonly machineIdFiles?: readonly string[];
  /** The same of the id of this boot. */
  readonly bootIdFiles?: readonly string[];
}

export const usualMachineIdFiles: readonly string[] = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
export const usualBootIdFiles: readonly string[] = ['/proc/sys/kernel/random/boot_id'];

/** What the machine is made of, from /proc, /sys and /etc (cadvisor's machine info). Rejects when its memory or processors cannot be read. */
export async function readMachineFacts({
  root,
  machineIdFiles = usualMachineIdFiles,
  bootIdFiles = usualBootIdFiles,
}: MachinePaths): Promise<MachineFacts> {
  const at = (path: string): string => join(root, path);
  const [cores, { memoryBytes, swapBytes }, machineId, systemUuid, bootId, hugePages] = await Promise.all([
    readCores(at),
    readMemory(at('proc/meminfo')),
    firstText(machineIdFiles.map(at)),
    firstText([at('sys/class/dmi/id/product_uuid'), at('proc/device-tree/system-id'), at('proc/device-tree/vm,uuid')]),
    firstText(bootIdFiles.map(at)),
    readHugePages(at('sys/kernel/mm/hugepages')),
  ]);
  return { cores, memoryBytes, swapBytes, machineId, systemUuid, bootId, hugePages };
}

/** The system's own name for itself: "Debian GNU/Linux 12 (bookworm)". */
export async function readOsImage({ root }: MachinePaths): Promise<string> {
  const text = await firstText([join(root, 'etc/os-release'), join(root, 'usr/lib/os-release')]);
  if (text === '') return 'Unknown';
  return /^PRETTY_NAME=(.*)$/m.exec(text)?.[1]?.replace(/^["']|["']$/g, '') ?? 'Linux';
}

/** The size of the file system that holds a directory. Bytes. */
export async function readFileSystemBytes(directory: string): Promise<bigint> {
  const { blocks, bsize } = await statfs(directory, { bigint: true });
  return blocks * bsize;
}

async function readCores(at: (path: string) => string): Promise<number> {
  const online = await firstText([at('sys/devices/system/cpu/online')]);
  const cores = countRanges(online);
  if (cores > 0) return cores;
  const cpuinfo = await readFile(at('proc/cpuinfo'), 'utf8');
  const processors = cpuinfo.match(/^processor\s*:/gm)?.length ?? 0;
  if (processors === 0) throw new Error(`${at('proc/cpuinfo')} names no processor`);
  return processors;
}

/** "0-3,8" → 5 */
function countRanges(text: string): number {
  let count = 0;
  for (const range of text.split(',')) {
    const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    if (from !== undefined && to !== undefined) count += Number(to) - Number(from) + 1;
  }
  return count;
}

async function readMemory(path: string): Promise<Pick<MachineFacts, 'memoryBytes' | 'swapBytes'>> {
  const text = await readFile(path, 'utf8');
  const [, totalKiB] = /^MemTotal:\s*(\d+) kB$/m.exec(text) ?? [];
  if (totalKiB === undefined) throw new Error(`${path} has no MemTotal`);
  const [, swapKiB = '0'] = /^SwapTotal:\s*(\d+) kB$/m.exec(text) ?? [];
  return { memoryBytes: Number(totalKiB) * 1024, swapBytes: Number(swapKiB) * 1024 };
}

async function readHugePages(directory: string): Promise<MachineFacts['hugePages']> {
  const names: readonly string[] = await readdir(directory).catch(() => []);
  const sizes = names.toSorted().map(async (name) => {
    const pageSizeKiB = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    return { pageSizeKiB, pages: Number(await firstText([join(directory, name, 'nr_hugepages')])) };
  });
  return (await Promise.all(sizes)).filter(({ pageSizeKiB, pages }) => pageSizeKiB > 0 && Number.isSafeInteger(pages));
}

/** The first file that can be read, without blanks around; empty when none can. */
async function firstText(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    try {
      // Of the device tree: texts that end in NUL.
      return (await readFile(path, 'utf8')).replaceAll('\0', '').trim();
    } catch {
      // The next one may be there.
    }
  }
  return '';
}
