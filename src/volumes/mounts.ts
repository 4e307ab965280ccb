import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What is mounted under a pod's directory. */
export interface Mounts {
  /** A file system in memory, unless something is mounted there. `sizeBytes` undefined: half of the memory, as the kernel has it. */
  tmpfs(directory: string, options: { readonly sizeBytes: bigint | undefined; readonly fsGroup: number | undefined }): Promise<void>;
  /** Shows `source`, taken as it is written, at `target` in place of what was mounted there. */
  bind(source: string, target: string): Promise<void>;
  /** Rejects while something is in use. Succeeds when nothing is mounted. */
  unmountBelow(directory: string): Promise<void>;
}

const run = promisify(execFile);

/** With mount(8) and umount(8), which need root. */
export const mounts: Mounts = {
  async tmpfs(directory, { sizeBytes, fsGroup }) {
    if ((await mountPoints()).includes(await realpath(directory))) return;
    const mode = fsGroup === undefined ? 'mode=0777' : `mode=2777,gid=${fsGroup}`;
    const size = sizeBytes === undefined ? '' : `,size=${sizeBytes}`;
    await run('mount', ['-t', 'tmpfs', '-o', mode + size, 'tmpfs', directory]);
  },
  async bind(source, target) {
    const path = await realpath(target);
    for (const each of await mountPoints()) if (each === path) await run('umount', ['--no-canonicalize', path]);
    await run('mount', ['--no-canonicalize', '--bind', source, path]);
  },
  async unmountBelow(directory) {
    const path = await realpath(directory).catch(() => directory);
    const below = (await mountPoints()).filter((each) => each.startsWith(`${path}/`));
    for (const each of below.reverse()) await run('umount', ['--no-canonicalize', each]);
  },
};

/** In the order they were mounted; one on which two are stacked stands there twice. */
async function mountPoints(): Promise<readonly string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return lines.map((line) =>
    (line.split(' ')[4] ?? '').replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8))),
  );
}
