import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { appendFile, link, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { abortable } from '../../src/base/abortable.ts';
import { type CommandEnd, runCommand } from '../../src/base/run-command.ts';
import { mountsNow } from '../../src/base/mount-info.ts';
import type { MachineRoots } from '../../src/volumes/disks/machine-roots.ts';

const execute = promisify(execFile);

interface Said {
  readonly code?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** What a call does in place of what it should: say something, or nothing ever. */
export type Fault = Said | 'hang' | 'missing' | (() => Promise<void>);

/**
 * A machine whose programs are this process: a session of iscsiadm is a tree below SYS, as the kernel has it, and its disks are links below
 * DEV/disk/by-path. A disk is a file whose content is the name of its file system, or, as root, a loop device, whose file systems are real ones.
 */
export class IscsiMachine implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'rxlet-iscsi-'));
  readonly roots: MachineRoots;
  readonly calls: string[] = [];
  /** The targets that each portal has. */
  targets: readonly string[] = [];
  /** By what is part of a call. */
  readonly faults = new Map<string, Fault>();
  /** Comes before each program. */
  before: () => Promise<void> = async () => {};
  /** Devices that a logout has taken away while something of them was mounted. */
  readonly lost: string[] = [];
  /** "PORTAL IFACE" of each session, by its SCSI host. */
  readonly sessions = new Map<number, { readonly iqn: string; readonly portal: string; readonly iface: string }>();
  readonly #isLoop: boolean;
  readonly #waiting = new Map<string, () => void>();
  #last = 0;

  private constructor(isLoop: boolean) {
    const { directory } = this;
    this.#isLoop = isLoop;
    this.roots = {
      dev: join(directory, 'dev'),
      sys: join(directory, 'sys'),
      proc: directory,
      iscsiRecords: [join(directory, 'records')],
      run: async (program, argv, how) => {
        await this.before();
        return this.#isOurs(program) ? this.#call(program, argv, how.signal) : runCommand(program, argv, how);
      },
    };
  }

  static async make({
    luns = [0],
    isLoop = false,
  }: { readonly luns?: readonly number[]; readonly isLoop?: boolean } = {}): Promise<IscsiMachine> {
    const machine = new IscsiMachine(isLoop);
    for (const each of ['dev/disk/by-path', 'dev/disk/by-id', 'sys/block', 'sys/class/scsi_host', 'disks'])
      await mkdir(join(machine.directory, each), { recursive: true });
    // Which file systems there are, the kernel says.
    if (isLoop) await symlink('/sys/fs', join(machine.roots.sys, 'fs'));
    for (const lun of luns) await writeFile(machine.disk(lun), isLoop ? Buffer.alloc(8 << 20) : '');
    return machine;
  }

  disk(lun: number): string {
    return join(this.directory, 'disks', `${lun}`);
  }

  /** Where iscsiadm has its records. */
  record(...path: readonly string[]): string {
    return join(this.directory, 'records', ...path);
  }

  /** Resolves when there is a call that has `what` in it. */
  called(what: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(what, resolve));
  }

  /** Each disk is of several paths: the device of them, as multipathd makes it. */
  async makeMultipath(name: string, ...devices: readonly string[]): Promise<void> {
    const block = join(this.roots.sys, 'block', name);
    await mkdir(join(block, 'dm'), { recursive: true });
    await writeFile(join(block, 'dm/uuid'), `mpath-${name}\n`);
    await writeFile(join(this.roots.dev, name), '');
    for (const device of devices) await mkdir(join(block, 'slaves', device), { recursive: true });
  }

  #isOurs(program: string): boolean {
    return !this.#isLoop || program === 'iscsiadm' || program === 'multipath';
  }

  async #call(program: string, argv: readonly string[], signal: AbortSignal): Promise<CommandEnd> {
    signal.throwIfAborted();
    const line = [program, ...argv].join(' ');
    if (program !== 'sh' && program !== 'dd') this.calls.push(line);
    for (const [what, resolve] of this.#waiting) if (line.includes(what)) resolve();
    const fault = [...this.faults].find(([what]) => line.includes(what))?.[1];
    if (fault === 'missing') return { is: 'missing', error: new Error(`spawn ${program} ENOENT`) };
    if (fault === 'hang') return abortable(signal, () => () => {});
    if (typeof fault === 'function') await fault();
    const { code = 0, stdout = '', stderr = '' } = typeof fault === 'object' ? fault : await this.#do(program, argv);
    return { is: 'exited', code, stdout, stderr };
  }

  async #do(program: string, argv: readonly string[]): Promise<Said> {
    const last = argv.at(-1) ?? '';
    if (program === 'iscsiadm') return this.#iscsiadm(argv);
    if (program.startsWith('mkfs.')) await writeFile(last, program.slice('mkfs.'.length));
    if (program === 'sh' && existsSync(last)) await writeFile(last, argv.at(-2) ?? '');
    if (program === 'multipath') await rm(join(this.roots.sys, 'block', basename(last)), { recursive: true });
    if (program !== 'blkid') return {};
    const type = await readFile(last, 'utf8');
    return type === '' ? { code: 2 } : { stdout: `DEVNAME=${last}\nTYPE=${type}\n` };
  }

  async #iscsiadm(argv: readonly string[]): Promise<Said> {
    const after = (option: string): string => argv[argv.indexOf(option) + 1] ?? '';
    const [iface, iqn, portal] = [after('-I'), after('-T'), after('-p')];
    const verb = argv.includes('-o') ? after('-o') : (argv.findLast((each) => each.startsWith('--')) ?? '');
    const ends = portal.replaceAll(/[[\]]/g, '').replace(/:(\d+)$/, ',$1');
    const node = this.record('nodes', iqn, `${ends},1`);
    switch (`${after('-m')} ${verb}`) {
      case 'iface show':
        if (iface === 'default')
          return { stdout: 'iface.iscsi_ifacename = default\niface.transport_name = tcp\niface.initiatorname = <empty>\n' };
        return readFile(this.record('ifaces', iface), 'utf8').then(
          (stdout) => ({ stdout }),
          () => ({ code: 6, stderr: `could not read ${iface}` }),
        );
      case 'iface new':
        return this.#write(`iface.iscsi_ifacename = ${iface}\n`, 'ifaces', iface);
      case 'iface update':
        await appendFile(this.record('ifaces', iface), `${after('-n')} = ${after('-v')}\n`);
        return {};
      case 'iface delete':
        await rm(this.record('ifaces', iface), { force: true });
        return {};
      case 'discoverydb new':
        return this.#write('# BEGIN RECORD\n# END RECORD\n', 'send_targets', ends, 'st_config');
      case 'discoverydb delete':
        await rm(this.record('send_targets', ends), { recursive: true, force: true });
        return {};
      case 'discoverydb --discover':
        for (const each of this.targets) await this.#write('# BEGIN RECORD\n# END RECORD\n', 'nodes', each, `${ends},1`, iface);
        return this.targets.length > 0 ? {} : { code: 21 };
      case 'node delete':
        if (!existsSync(node)) return { code: 21, stderr: 'iscsiadm: No records found' };
        await rm(node, { recursive: true });
        return {};
      case 'node --login':
        if (!existsSync(node)) return { code: 21, stderr: 'iscsiadm: No records found' };
        return this.#login(iqn, portal, iface);
      case 'node --logout':
        return this.#logout(iqn, portal, iface);
      default:
        return {};
    }
  }

  async #write(text: string, ...path: readonly string[]): Promise<Said> {
    await mkdir(join(this.record(...path), '..'), { recursive: true });
    await writeFile(this.record(...path), text);
    return {};
  }

  #hostOf(iqn: string, portal: string, iface: string): number | undefined {
    return [...this.sessions].find(([, each]) => each.iqn === iqn && each.portal === portal && each.iface === iface)?.[0];
  }

  #link(iqn: string, portal: string, lun: string): string {
    return join(this.roots.dev, `disk/by-path/ip-${portal.replaceAll(/[[\]]/g, '')}-iscsi-${iqn}-lun-${lun}`);
  }

  async #login(iqn: string, portal: string, iface: string): Promise<Said> {
    if (this.#hostOf(iqn, portal, iface) !== undefined) return { code: 15 };
    const n = ++this.#last;
    const { sys } = this.roots;
    const session = join(sys, `class/iscsi_host/host${n}/device/session${n}`);
    const [, address = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(portal) ?? [];
    const facts: Readonly<Record<string, string>> = {
      [`iscsi_session/session${n}/targetname`]: iqn,
      [`iscsi_session/session${n}/ifacename`]: iface,
      [`connection${n}:0/iscsi_connection/connection${n}:0/persistent_address`]: address,
      [`connection${n}:0/iscsi_connection/connection${n}:0/persistent_port`]: port,
    };
    for (const [path, text] of Object.entries(facts)) {
      await mkdir(join(session, path, '..'), { recursive: true });
      await writeFile(join(session, path), `${text}\n`);
    }
    await mkdir(join(sys, `class/scsi_host/host${n}`), { recursive: true });
    await writeFile(join(sys, `class/scsi_host/host${n}/scan`), '');
    for (const lun of await readdir(join(this.directory, 'disks'))) {
      const device = await this.#deviceOf(Number(lun), n);
      await mkdir(join(session, `target${n}:0:0/${n}:0:0:${lun}/block`, basename(device)), { recursive: true });
      await mkdir(join(sys, 'block', basename(device), 'device'), { recursive: true });
      await writeFile(join(sys, 'block', basename(device), 'device/delete'), '');
      await rm(this.#link(iqn, portal, lun), { force: true });
      await symlink(device, this.#link(iqn, portal, lun));
    }
    this.sessions.set(n, { iqn, portal, iface });
    return {};
  }

  /** Each path to a disk is a device of its own; of loop devices there is one a disk. */
  async #deviceOf(lun: number, host: number): Promise<string> {
    if (this.#isLoop)
      return (await loopOf(this.disk(lun))) ?? (await execute('losetup', ['--find', '--show', this.disk(lun)])).stdout.trim();
    const device = join(this.roots.dev, `sd${host}${lun}`);
    await link(this.disk(lun), device);
    return device;
  }

  async #logout(iqn: string, portal: string, iface: string): Promise<Said> {
    const host = this.#hostOf(iqn, portal, iface);
    if (host === undefined) return { code: 21, stderr: 'iscsiadm: No matching sessions found' };
    for (const lun of await readdir(join(this.directory, 'disks'))) {
      const path = this.#link(iqn, portal, lun);
      const device = await readlink(path).catch(() => undefined);
      await rm(path, { force: true });
      if (device === undefined) continue;
      if (mountsNow().some(({ source, root }) => source === device || root === device.slice('/dev'.length))) this.lost.push(device);
      if (!this.#isLoop) await rm(device, { force: true });
      else if (this.sessions.size === 1) await execute('losetup', ['--detach', device]);
    }
    await rm(join(this.roots.sys, `class/iscsi_host/host${host}`), { recursive: true });
    this.sessions.delete(host);
    return {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lun of this.#isLoop ? readdirSync(join(this.directory, 'disks')) : []) {
      const device = await loopOf(this.disk(Number(lun)));
      if (device !== undefined) await execute('losetup', ['--detach', device]);
    }
    await rm(this.directory, { recursive: true, force: true });
  }
}

async function loopOf(path: string): Promise<string | undefined> {
  const { stdout } = await execute('losetup', ['--noheadings', '--output', 'NAME', '--associated', path]);
  return stdout.trim().split('\n')[0]?.trim() || undefined;
}
