import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** File systems in memory. */
export interface Tmpfs {
  /** Mounts one there unless something is mounted there. `sizeBytes` undefined: half of the memory, as the kernel has it. */
  mount(directory: string, options: { readonly sizeBytes: bigint | undefined; readonly fsGroup: number | undefined }): Promise<void>;
  /** Rejects while it is in use. Succeeds when nothing is mounted there. */
  unmount(directory: string): Promise<void>;
}

const run = promisify(execFile);

/** With mount(8) and umount(8), which need root. */
export const tmpfs: Tmpfs = {
  async mount(directory, { sizeBytes, fsGroup }) {
    if (await isMountPoint(directory)) return;
    const options = [
      fsGroup === undefined ? 'mode=0777' : `mode=2777,gid=${fsGroup}`,
      ...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`]),
    ];
    await run('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', directory]);
  },
  async unmount(directory) {
    if (await isMountPoint(directory)) await run('umount', [directory]);
  },
};

async function isMountPoint(directory: string): Promise<boolean> {
  const [here, above] = await Promise.all([lstat(directory), lstat(dirname(directory))]);
  return here.dev !== above.dev;
}
