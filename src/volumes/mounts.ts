import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { isWithin, mountOf, type MountPoint } from '../base/mount-info.ts';
import { type CommandEnd, runCommand } from '../base/run-command.ts';
import { mountTable } from './mount-table.ts';
import { unlessMissing } from './unless-missing.ts';

/** What the mount table says of a mount: major:minor, as it was given to mount(8), and the type of file system. */
export type MountedDevice = Pick<MountPoint, 'device' | 'source' | 'fsType'>;

export interface MountRequest {
  /** As mount(8) takes it, or "bind". */
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** What is mounted under a pod's directory. Nothing here looks into a mount: its server may be gone. */
export interface Mounts {
  /**
   * A file system in memory, unless something is mounted there. All may write there, and only remove what is theirs, as the kubelet leaves it:
   * the kernel's own mode of a tmpfs, and the group's bits (pkg/volume/emptydir setupTmpfs, SetVolumeOwnership). `sizeBytes` undefined: half of the memory, as
   * the kernel has it.
   */
  tmpfs(directory: string, options: { readonly sizeBytes: bigint | undefined; readonly fsGroup: number | undefined }): Promise<void>;
  /** A file system of huge pages of that size, unless something is mounted there. Rejects where the kernel has no pages of it. */
  hugePages(directory: string, pageBytes: bigint): Promise<void>;
  /** Shows `source` at `directory`, unless something is mounted there. An abort ends the attempt: a server may never answer. */
  mount(directory: string, request: MountRequest, signal: AbortSignal): Promise<void>;
  /** Shows `source`, taken as it is written, at `target` in place of what was mounted there. */
  bind(source: string, target: string): Promise<void>;
  /** Makes `directory` one whose mounts are seen wherever it is shown, and the other way round. */
  share(directory: string): Promise<void>;
  /** What is mounted below `directory`, outermost first. */
  below(directory: string): Promise<readonly string[]>;
  /** Whether something is mounted at the path, whose last part is no link. */
  isMounted(path: string): Promise<boolean>;
  /** What is mounted at the path, whose last part is no link; undefined: nothing. */
  mountedAt(path: string): Promise<MountedDevice | undefined>;
  /** Whether what is mounted at `directory` is mounted at the other path, too, or a part of it. */
  isShown(directory: string, at: string): Promise<boolean>;
  /** Where else what is mounted at `directory` is shown, or a part of it. */
  showing(directory: string): Promise<readonly string[]>;
  /** Takes away what is mounted at the path, once all that was written is on its disk: waits for that, and rejects where it takes too long. */
  release(path: string, signal: AbortSignal): Promise<void>;
  /** Rejects while something is in use. Succeeds when nothing is mounted. What does not answer is taken out of sight at once, in use or not. */
  unmountBelow(directory: string): Promise<void>;
}

export interface SystemMountsDeps {
  readonly clock: Pick<Clock, 'schedule'>;
  /** Which file systems are known not to answer: they are unmounted however many hang in them. */
  readonly silent?: () => readonly { readonly device: string }[];
  /** Ends every attempt that is under way. */
  readonly stop?: AbortSignal;
}

/** A server of a network file system may never answer. */
const MOUNT_DEADLINE_MS = 110_000;
/** Nothing is asked of a server to mount what is there already, or memory. */
const LOCAL_DEADLINE_MS = 30_000;
/** What is still to be written is written afterwards as well. */
const UNMOUNT_DEADLINE_MS = 10_000;

/** A disk may have much to write yet. */
const RELEASE_DEADLINE_MS = 200_000;

/** With mount(8) and umount(8), which need root. */
export function systemMounts({ clock, silent = () => [], stop = new AbortController().signal }: SystemMountsDeps): Mounts {
  /** Where a mount was given up on whose process has not ended: no second one hangs there beside it. */
  const hanging = new Set<string>();
  const mount = async (argv: readonly string[], deadlineMs = LOCAL_DEADLINE_MS, signal = stop): Promise<void> => {
    const at = argv.at(-1) ?? '';
    if (hanging.has(at)) throw new Error(`mount failed: an earlier attempt at ${at} hangs and cannot be ended`);
    const end = await runCommand('mount', argv, { clock, deadlineMs, signal });
    if (end.is === 'late') {
      hanging.add(at);
      void end.ended.then(() => hanging.delete(at));
    }
    const failure = failureOf(end);
    if (failure) throw new Error(`mount failed: ${failure.status}, mounting arguments: ${argv.join(' ')}, output: ${failure.output}`);
  };
  /** Stacked mounts are taken away one by one. */
  const release = async (path: string, signal: AbortSignal): Promise<void> => {
    while (await isMountPoint(path)) {
      signal.throwIfAborted();
      if (hanging.has(path)) throw new Error(`unmount failed: an earlier attempt at ${path} has not ended`);
      const end = await runCommand('umount', ['--no-canonicalize', await pathOf(path)], { clock, deadlineMs: RELEASE_DEADLINE_MS, signal });
      if (end.is === 'late') {
        hanging.add(path);
        void end.ended.then(() => hanging.delete(path));
      }
      const failure = failureOf(end);
      if (failure) throw new Error(`unmount failed: ${failure.status}, unmounting arguments: ${path}, output: ${failure.output}`);
    }
  };
  const unmount = async ({ path, pathBytes, device }: MountPoint): Promise<void> => {
    const limits = { clock, deadlineMs: UNMOUNT_DEADLINE_MS, signal: stop };
    const attempt = (how: UnmountHow): Promise<CommandEnd> =>
      pathBytes.equals(Buffer.from(path))
        ? runCommand('umount', [...how, path], limits)
        : runCommand('sh', ['-c', UNMOUNT_ESCAPED, 'sh', escapedInOctal(pathBytes), ...how], limits);
    const isSilent = silent().some((each) => each.device === device);
    let end: CommandEnd | undefined = isSilent ? undefined : await attempt(['--no-canonicalize']);
    if (end === undefined || end.is === 'late') end = await attempt(['--lazy', '--no-canonicalize']);
    const failure = failureOf(end);
    if (failure) throw new Error(`unmount failed: ${failure.status}, unmounting arguments: ${path}, output: ${failure.output}`);
  };

  return {
    async tmpfs(directory, { sizeBytes, fsGroup }) {
      if (await isMountPoint(directory)) return;
      const mode = fsGroup === undefined ? 'mode=1777' : `mode=3777,gid=${fsGroup}`;
      const size = sizeBytes === undefined || sizeBytes <= 0n ? '' : `,size=${sizeBytes}`;
      await mount(['-t', 'tmpfs', '-o', mode + size, 'tmpfs', directory]);
    },
    async hugePages(directory, pageBytes) {
      if (!(await isMountPoint(directory))) await mount(['-t', 'hugetlbfs', '-o', `pagesize=${pageBytes}`, 'nodev', directory]);
    },
    async mount(directory, { type, source, options }, signal) {
      // mount(8) takes options in any place, and of these some have it mount what a pod must not have.
      if (source.startsWith('-')) throw new Error(`mount failed: ${source} begins with "-", as no source does`);
      if (await isMountPoint(directory)) return;
      const all = type === 'bind' ? ['bind', ...options] : options;
      const argv = [...(type === 'bind' ? [] : ['-t', type]), ...(all.length > 0 ? ['-o', all.join(',')] : []), source, directory];
      using either = anySignal(signal, stop);
      await mount(argv, MOUNT_DEADLINE_MS, either.signal);
    },
    async bind(source, target) {
      const path = await pathOf(target);
      for (const each of await mountTable()) if (each.path === path) await unmount(each);
      await mount(['--no-canonicalize', '--bind', source, path]);
    },
    async share(directory) {
      const path = await pathOf(directory);
      if (mountOf(await mountTable(), path)?.shared) return;
      if (!(await isMountPoint(path))) await mount(['--no-canonicalize', '--bind', path, path]);
      await mount(['--no-canonicalize', '--make-shared', path]);
    },
    isMounted: isMountPoint,
    mountedAt: async (path) => {
      const real = await pathOf(path).catch(unlessMissing);
      return (await mountTable()).findLast((each) => each.path === real);
    },
    showing: async (directory) => {
      const path = await pathOf(directory);
      const table = await mountTable();
      const own = table.findLast((each) => each.path === path);
      return own === undefined ? [] : table.filter((each) => each.device === own.device && each.path !== path).map((each) => each.path);
    },
    isShown: async (directory, at) => {
      const [path, other] = await Promise.all([pathOf(directory), pathOf(at).catch(unlessMissing)]);
      const table = await mountTable();
      const own = table.findLast((each) => each.path === path);
      return own !== undefined && table.findLast((each) => each.path === other)?.device === own.device;
    },
    release,
    below: async (directory) => (await mountsBelow(directory)).map(({ path }) => path),
    async unmountBelow(directory) {
      for (const each of [...(await mountsBelow(directory))].reverse()) await unmount(each);
    },
  };
}

type UnmountHow = readonly ['--no-canonicalize'] | readonly ['--lazy', '--no-canonicalize'];

/** A process is started with arguments in UTF-8 only: another path reaches umount(8) by way of a shell, written in octal. */
const UNMOUNT_ESCAPED = 'path=$(printf "%b." "$1") && shift && exec umount "$@" "${path%.}"';

const escapedInOctal = (bytes: Buffer): string => Array.from(bytes, (byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');

async function mountsBelow(directory: string): Promise<readonly MountPoint[]> {
  const path = await realpath(directory).catch(() => directory);
  return (await mountTable()).filter((each) => each.path !== path && isWithin(each.path, path));
}

/** The last part is no link; what is mounted there is not looked at. */
async function pathOf(directory: string): Promise<string> {
  return join(await realpath(dirname(directory)), basename(directory));
}

async function isMountPoint(directory: string): Promise<boolean> {
  const path = await pathOf(directory).catch(unlessMissing);
  if (path === undefined) return false;
  return (await mountTable()).some((each) => each.path === path);
}

/** In the kubelet's words (k8s.io/mount-utils), on one line. */
function failureOf(end: CommandEnd): { readonly status: string; readonly output: string } | undefined {
  const output = 'stderr' in end ? end.stderr.trim().replaceAll(/\s*\n\s*/g, ' ') : '';
  switch (end.is) {
    case 'exited':
      return end.code === 0 ? undefined : { status: `exit status ${end.code}`, output };
    case 'killed':
      return { status: `signal: ${end.by}`, output };
    case 'late':
      return { status: 'timed out', output };
    case 'missing':
      return { status: end.error.message, output };
    default:
      return end satisfies never;
  }
}
