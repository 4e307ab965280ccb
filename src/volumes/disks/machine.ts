import { readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { isMissingFile } from '../../base/error-code.ts';
import { namesIn } from '../../base/names-in.ts';
import type { CommandEnd } from '../../base/run-command.ts';
import { MountStepError } from '../../model/mount-step-error.ts';
import { words } from '../words.ts';
import type { MachineRoots } from './machine-roots.ts';

export interface ProgramEnd {
  readonly code: number;
  readonly stdout: string;
  /** All that it said, on one line. */
  readonly said: string;
}

const packages: Readonly<Record<string, string>> = {
  iscsiadm: 'open-iscsi of Debian, Ubuntu and SUSE, iscsi-initiator-utils elsewhere',
  multipath: 'multipath-tools of Debian, Ubuntu and SUSE, device-mapper-multipath elsewhere',
  blkid: 'util-linux',
  blockdev: 'util-linux',
};

/** Programs and devices of the machine. Nothing here opens a device: it may never answer. */
export class Machine {
  readonly roots: MachineRoots;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule' | 'sleep'>;
  /** What is still under way although it was killed, by what it is about. */
  readonly #hanging = new Set<string>();

  constructor(roots: MachineRoots, clock: Pick<Clock, 'monotonicMs' | 'schedule' | 'sleep'>) {
    this.roots = roots;
    this.clock = clock;
  }

  /**
   * Resolves with how a program ended by itself. Rejects with what to install where it is missing, and where it is late. While one about `subject`
   * cannot be ended, no second one is started.
   */
  async run(
    program: string,
    argv: readonly string[],
    { deadlineMs, subject, signal }: { readonly deadlineMs: number; readonly subject: string; readonly signal: AbortSignal },
  ): Promise<ProgramEnd> {
    const key = `${program} ${subject}`;
    if (this.#hanging.has(key)) throw new Error(`an earlier ${program} about ${subject} hangs and cannot be ended`);
    const end = await this.roots.run(program, argv, { clock: this.clock, deadlineMs, signal });
    if (end.is === 'late') {
      this.#hanging.add(key);
      void end.ended.then(() => this.#hanging.delete(key));
    }
    return endOf(program, end, deadlineMs);
  }

  /** Writes to a file of sysfs, which takes as long as what it asks for. Succeeds where there is none. */
  async tell(path: string, text: string, signal: AbortSignal): Promise<void> {
    const how = { deadlineMs: TELL_MS, subject: path, signal };
    const { code, said } = await this.run('sh', ['-c', '[ ! -e "$2" ] || printf %s "$1" > "$2"', 'sh', text, path], how);
    if (code !== 0) throw new Error(`${path} cannot be written: ${said}`);
  }

  /** Names in a directory, none where it is not there. */
  async names(...path: readonly string[]): Promise<readonly string[]> {
    return namesIn(join(...path));
  }

  /** What is in a file of the kernel's, mostly a line; undefined where it is not there. */
  async line(...path: readonly string[]): Promise<string | undefined> {
    try {
      return (await readFile(join(...path), 'utf8')).trim();
    } catch (error) {
      if (isMissingFile(error)) return undefined;
      throw error;
    }
  }

  /** The devices that links of these names in DEV/disk/`directory` lead to, "/dev/sdb". */
  async linked(directory: string, isName: (name: string) => boolean): Promise<readonly string[]> {
    const above = join(this.roots.dev, 'disk', directory);
    const found = (await this.names(above)).filter(isName);
    const devices = await Promise.all(found.map((each) => realpath(join(above, each)).catch(() => undefined)));
    return [...new Set(devices.filter((each) => each !== undefined))];
  }

  /** The device of several paths that a device is one of; undefined: none. */
  async multipathOf(device: string): Promise<string | undefined> {
    const block = join(this.roots.sys, 'block');
    for (const name of await this.names(block)) {
      if (!name.startsWith('dm-') || !(await this.#isMultipath(name))) continue;
      if ((await this.names(block, name, 'slaves')).includes(basename(device))) return join(this.roots.dev, name);
    }
    return undefined;
  }

  /** Whether the kernel has a file system of the device or of a part of it, mounted or not yet gone, or swaps to it, or somebody has made another device of it. */
  async isUsed(device: string): Promise<boolean> {
    const own = basename(device);
    const block = join(this.roots.sys, 'block', own);
    const parts = (await this.names(block)).filter((each) => each.startsWith(own));
    if ((await this.#haveFileSystem([own, ...parts])) || (await this.#areSwappedTo([own, ...parts]))) return true;
    const holders = new Set<string>();
    for (const above of [block, ...parts.map((each) => join(block, each))])
      for (const holder of await this.names(above, 'holders')) holders.add(holder);
    for (const holder of holders) {
      if (!(await this.#isMultipath(holder)) || (await this.isUsed(join(this.roots.dev, holder)))) return true;
    }
    return false;
  }

  /** Or a part of one. */
  async #isMultipath(name: string): Promise<boolean> {
    return /^(?:part\d+-)?mpath-/.test((await this.line(this.roots.sys, 'block', name, 'dm/uuid')) ?? '');
  }

  async #areSwappedTo(devices: readonly string[]): Promise<boolean> {
    const lines = ((await this.line(this.roots.proc, 'swaps')) ?? '').split('\n');
    return devices.some((each) => lines.some((line) => line.startsWith(`${join(this.roots.dev, each)} `)));
  }

  async #haveFileSystem(devices: readonly string[]): Promise<boolean> {
    const fileSystems = join(this.roots.sys, 'fs');
    for (const kind of await this.names(fileSystems)) {
      if (kind === 'cgroup' || kind === 'bpf') continue;
      const of = await this.names(fileSystems, kind);
      if (devices.some((each) => of.includes(each))) return true;
      // btrfs has them by its own names.
      for (const each of kind === 'btrfs' ? of : [])
        if ((await this.names(fileSystems, kind, each, 'devices')).some((name) => devices.includes(name))) return true;
    }
    return false;
  }
}

/** The kernel asks a disk for it, and waits for its answer. */
const TELL_MS = 30_000;

function endOf(program: string, end: CommandEnd, deadlineMs: number): ProgramEnd {
  switch (end.is) {
    case 'exited':
      return { code: end.code, stdout: end.stdout, said: words(`${end.stderr} ${end.stdout}`) };
    case 'killed':
      throw new Error(`${program}: signal: ${end.by}: ${words(end.stderr)}`);
    case 'late':
      throw new Error(`${program} has not ended after ${deadlineMs / 1000} s`);
    case 'missing':
      throw new MountStepError('CanMount', missing(program));
    default:
      return end satisfies never;
  }
}

const missing = (program: string): string =>
  'Verify that your node machine has the required components before attempting to mount this volume type. ' +
  `Required binary ${program} is missing${packages[program] === undefined ? '' : ` (package ${packages[program]})`}`;
