import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, isMissingFile } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import type { CgroupManager } from './cgroup-manager.ts';

/** New processes come while others are moved: so often it is looked again. */
const ROUNDS = 10;

/**
 * Moves every process that is in the root cgroup to another, but for the first one and the kernel's own (ensureSystemCgroups in
 * pkg/kubelet/cm). Resolves with how many were moved; rejects where some stay, with the first of them.
 */
export async function moveSystemProcesses(
  path: string,
  { manager, proc }: { readonly manager: CgroupManager; readonly proc: string },
): Promise<number> {
  const moved = new Set<number>();
  let failure: Error | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    failure = undefined;
    let wasFound = false;
    for (const pid of await manager.inRoot()) {
      if (pid <= 1 || (await isOfKernel(pid, proc))) continue;
      wasFound = true;
      try {
        await manager.enter(path, pid);
        moved.add(pid);
      } catch (cause) {
        // It has ended.
        if (errorCode(cause) === 'ESRCH') continue;
        failure ??= new Error(`process ${pid} cannot be moved to cgroup ${path}: ${errorText(cause)}`, { cause });
      }
    }
    if (!wasFound) return moved.size;
  }
  if (failure) throw failure;
  return moved.size;
}

/** The kernel's threads have no program, nor have processes that have ended. */
async function isOfKernel(pid: number, proc: string): Promise<boolean> {
  try {
    await readlink(join(proc, String(pid), 'exe'));
    return false;
  } catch (error) {
    return isMissingFile(error);
  }
}
