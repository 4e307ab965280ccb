import { join } from 'node:path';
import { exists } from './exists.ts';
import type { CgroupHierarchy } from './cgroup-hierarchy.ts';
import { parseCgroupPaths } from './cgroup-paths.ts';
import { parseMemInfo } from './mem-info.ts';
import { readTextFile } from './read-text-file.ts';

/** The machine's memory and swap, in bytes. */
export interface MachineMemory {
  /** 0: not known. */
  readonly bytes: number;
  /** 0: none, or a number that no machine has. */
  readonly swapBytes: number;
  /** Whether the kernel can limit who uses swap. */
  readonly limitsSwap: boolean;
}

/** As the kernel tells it now. Never rejects. */
export async function readMachineMemory(
  { root, version }: Pick<CgroupHierarchy, 'root' | 'version'>,
  proc = '/proc',
): Promise<MachineMemory> {
  const text = async (path: string): Promise<string> => (await readTextFile(join(proc, path)).catch(() => undefined)) ?? '';
  const info = parseMemInfo(await text('meminfo'));
  const bytes = (name: string): number => {
    const amount = info.get(name) ?? 0;
    return Number.isSafeInteger(amount) ? amount : 0;
  };
  // The root of version 2 has no such file (swapControllerAvailable in pkg/kubelet/kuberuntime).
  const limit =
    version === 2
      ? join(root, parseCgroupPaths(await text('self/cgroup')).get('') ?? '/', 'memory.swap.max')
      : join(root, 'memory/memory.memsw.limit_in_bytes');
  return { bytes: bytes('MemTotal'), swapBytes: bytes('SwapTotal'), limitsSwap: await exists(limit) };
}
