import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isWithin, mountOf, type MountPoint } from '../base/mount-info.ts';
import { mountTable, otherMountsOf } from './mount-table.ts';

export interface MountRequest {
  readonly type: 'nfs' | 'bind';
  readonly source: string;
  readonly options: readonly string[];
}

/** What is mounted under a pod's directory. */
export interface Mounts {
  /**
   * A file system in memory, unless something is mounted there. All may write there, and only remove what is theirs, as the kubelet leaves it:
   * the kernel's own mode of a tmpfs, and the group's bits (pkg/volume/emptydir setupTmpfs, SetVolumeOwnership). `sizeBytes` undefined: half of the memory, as
   * the kernel has it.
   */
  tmpfs(directory: string, options: { readonly sizeBytes: bigint | undefined; readonly fsGroup: number | undefined }): Promise<void>;
  /** Shows `source` at `directory`, unless something is mounted there. An abort ends the attempt: a server may never answer. */
  mount(directory: string, request: MountRequest, signal: AbortSignal): Promise<void>;
  /** Shows `source`, taken as it is written, at `target` in place of what was mounted there. */
  bind(source: string, target: string): Promise<void>;
  /** Makes `directory` one whose mounts are seen by whoever it is shown to, and the other way round. */
  share(directory: string): Promise<void>;
  /** Where else `directory` is mounted. */
  others(directory: string): Promise<readonly string[]>;
  /** What is mounted below `directory`, outermost first. */
  below(directory: string): Promise<readonly string[]>;
  /** Rejects while something is in use. Succeeds when nothing is mounted. */
  unmountBelow(directory: string): Promise<void>;
}

/** A server of a network file system may never answer. */
const PATIENCE_MS = 110_000;

const execute = promisify(execFile);

/** With mount(8) and umount(8), which need root. */
export const mounts: Mounts = {
  async tmpfs(directory, { sizeBytes, fsGroup }) {
    if (await isMountPoint(directory)) return;
    const mode = fsGroup === undefined ? 'mode=1777' : `mode=3777,gid=${fsGroup}`;
    const size = sizeBytes === undefined || sizeBytes <= 0n ? '' : `,size=${sizeBytes}`;
    await run('mount', ['-t', 'tmpfs', '-o', mode + size, 'tmpfs', directory]);
  },
  async mount(directory, { type, source, options }, signal) {
    if (await isMountPoint(directory)) return;
    const all = type === 'bind' ? ['bind', ...options] : options;
    const argv = [...(type === 'bind' ? [] : ['-t', type]), ...(all.length > 0 ? ['-o', all.join(',')] : []), source, directory];
    await run('mount', argv, { signal });
  },
  async bind(source, target) {
    const path = await realpath(target);
    for (const each of await mountTable()) if (each.path === path) await run('umount', ['--no-canonicalize', path]);
    await run('mount', ['--no-canonicalize', '--bind', source, path]);
  },
  async share(directory) {
    const path = await realpath(directory);
    if (mountOf(await mountTable(), path)?.shared) return;
    if (!(await isMountPoint(path))) await run('mount', ['--no-canonicalize', '--bind', path, path]);
    await run('mount', ['--no-canonicalize', '--make-shared', path]);
  },
  async others(directory) {
    return otherMountsOf(await mountTable(), await realpath(directory));
  },
  async below(directory) {
    return (await mountsBelow(directory)).map((each) => each.path);
  },
  async unmountBelow(directory) {
    for (const each of [...(await mountsBelow(directory))].reverse()) await unmount(each);
  },
};

async function mountsBelow(directory: string): Promise<readonly MountPoint[]> {
  const path = await realpath(directory).catch(() => directory);
  return (await mountTable()).filter((each) => each.path !== path && isWithin(each.path, path));
}

/** A process is started with arguments in UTF-8 only: another path reaches umount(8) by way of a shell, written in octal. */
const UNMOUNT_ESCAPED = 'path=$(printf "%b." "$1") && exec umount --no-canonicalize "${path%.}"';

async function unmount({ path, pathBytes }: MountPoint): Promise<void> {
  if (pathBytes.equals(Buffer.from(path))) return run('umount', ['--no-canonicalize', path]);
  const escaped = Array.from(pathBytes, (byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');
  return run('umount', ['-c', UNMOUNT_ESCAPED, 'sh', escaped], { by: 'sh', shown: path });
}

/** Asks nothing of what is mounted there: its server may be gone. */
async function isMountPoint(directory: string): Promise<boolean> {
  const path = join(await realpath(dirname(directory)), basename(directory));
  return (await mountTable()).some((each) => each.path === path);
}

/** Fails in the kubelet's words (k8s.io/mount-utils), on one line. */
async function run(command: 'mount' | 'umount', argv: readonly string[], over: RunOptions = {}): Promise<void> {
  const { signal, by = command, shown = argv.at(-1) } = over;
  const options = { timeout: PATIENCE_MS, ...(signal && { signal }) };
  const failure: ExecFailure | undefined = await execute(by, argv, options).then(
    () => undefined,
    (error: ExecFailure) => error,
  );
  if (failure === undefined) return;
  signal?.throwIfAborted();
  const { code, stderr = '' } = failure;
  const status = code === null ? 'timed out' : typeof code === 'number' ? `exit status ${code}` : `${code}`;
  const output = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
  if (command === 'umount') throw new Error(`unmount failed: ${status}, unmounting arguments: ${shown}, output: ${output}`);
  throw new Error(`mount failed: ${status}, mounting arguments: ${argv.join(' ')}, output: ${output}`);
}

interface RunOptions {
  readonly signal?: AbortSignal;
  /** What runs the command; by default it is run itself. */
  readonly by?: 'sh';
  /** The path that is unmounted, for people. */
  readonly shown?: string;
}

/** What child_process says of a command that failed: its exit code, null after a signal, or why it could not be started. */
interface ExecFailure {
  readonly code?: number | string | null;
  readonly stderr?: string;
}
