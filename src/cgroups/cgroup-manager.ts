import type { Clock } from '../base/clock.ts';
import { errorCode, isMissingFile } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import { type CgroupDriver, type CgroupName, cgroupPath, podPart, uidOfCgroup } from '../model/cgroup-name.ts';
import type { ResourceConfig } from '../model/resource-config.ts';
import type { CgroupOperation, Happenings } from '../ports/happenings.ts';
import type { CgroupFs } from './cgroup-fs.ts';
import { type CgroupWrite, cgroupWrites, type HugePageSizes } from './cgroup-writes.ts';
import type { Slices } from './systemd-slices.ts';

export interface CgroupManagerDeps {
  readonly fs: CgroupFs;
  readonly driver: CgroupDriver;
  /** Under the systemd driver: who makes and removes what it names. */
  readonly slices: Slices | undefined;
  readonly hugePageSizes: HugePageSizes;
  readonly clock: Pick<Clock, 'sleep' | 'monotonicMs'>;
  readonly tell: Pick<Happenings, 'cgroupOperated'>;
  /** Throws for a process that has ended. */
  readonly kill?: (pid: number) => void;
}

/** How long the kernel may take to let go of processes that were killed. */
const BUSY_MS = [5, 10, 20, 40, 80, 160, 320, 640] as const;

/** Makes, changes and removes cgroups by the name that Kubernetes gives them (pkg/kubelet/cm CgroupManager). */
export class CgroupManager {
  readonly #deps: CgroupManagerDeps;

  constructor(deps: CgroupManagerDeps) {
    this.#deps = deps;
  }

  get driver(): CgroupDriver {
    return this.#deps.driver;
  }

  /** The machine's. */
  get hugePageSizes(): HugePageSizes {
    return this.#deps.hugePageSizes;
  }

  /** As the driver names it: what an engine is given as a parent. */
  pathOf(name: CgroupName): string {
    return cgroupPath(name, this.#deps.driver);
  }

  /** What tells it from another of the same name; undefined: there is none. */
  identity(name: CgroupName): Promise<string | undefined> {
    return this.#deps.fs.identity(this.pathOf(name));
  }

  children(name: CgroupName): Promise<readonly string[]> {
    return this.#deps.fs.children(this.pathOf(name));
  }

  /** The pod's cgroup that has this name in the file system; undefined: it is none. */
  childOf(above: CgroupName, child: string): CgroupName | undefined {
    const { driver } = this.#deps;
    const uid = uidOfCgroup(above, `${this.pathOf(above)}/${child}`, driver);
    const name = uid === undefined || uid === '' ? undefined : [...above, podPart(uid)];
    return name && this.pathOf(name).endsWith(`/${child}`) ? name : undefined;
  }

  /** Makes it, with all above it, and sets it. Safe to repeat. */
  create(name: CgroupName, config: ResourceConfig): Promise<void> {
    return this.#measured('create', name, async (path) => {
      const { slices, fs } = this.#deps;
      await slices?.set(name, config);
      await fs.make(path);
      await this.#write(path, config);
    });
  }

  update(name: CgroupName, config: ResourceConfig): Promise<void> {
    return this.#measured('update', name, async (path) => {
      await this.#deps.slices?.set(name, config);
      await this.#write(path, config);
    });
  }

  /** A process moves to this path of the file system, whatever the driver; what is not there yet is made. */
  async enter(path: string, pid: number): Promise<void> {
    await this.#deps.fs.make(path);
    await this.#deps.fs.enter(path, pid);
  }

  /** The processes that are in no cgroup but the root. */
  inRoot(): Promise<ReadonlySet<number>> {
    return this.#deps.fs.members('/');
  }

  /** Kills what is left in it, and removes it with all below. Rejects where something stays in it. */
  destroy(name: CgroupName, signal: AbortSignal): Promise<void> {
    return this.#measured('destroy', name, async (path) => {
      await this.#deps.slices?.stop(name);
      for (const waitMs of [...BUSY_MS, undefined]) {
        await this.#killAll(path);
        try {
          await this.#deps.fs.remove(path);
          return;
        } catch (error) {
          if (errorCode(error) !== 'EBUSY' || waitMs === undefined) throw await this.#stays(path, error);
        }
        await this.#deps.clock.sleep(waitMs, signal);
      }
    });
  }

  /** Removes it where nothing runs in it. Resolves with the number of processes that kept it from that. */
  async destroyEmpty(name: CgroupName, signal: AbortSignal): Promise<number> {
    const { size } = await this.#deps.fs.processes(this.pathOf(name));
    if (size === 0) await this.destroy(name, signal);
    return size;
  }

  /** Bytes; undefined: no limit, or not counted. */
  async memoryLimit(path: string): Promise<number | undefined> {
    const { fs } = this.#deps;
    const limit = Number(await fs.read(path, 'memory', fs.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'));
    return limit < UNLIMITED_BYTES ? limit : undefined;
  }

  async memoryUsage(path: string): Promise<number> {
    const { fs } = this.#deps;
    return Number((await fs.read(path, 'memory', fs.version === 1 ? 'memory.usage_in_bytes' : 'memory.current')) ?? 0);
  }

  async #write(path: string, config: ResourceConfig): Promise<void> {
    const { fs, hugePageSizes } = this.#deps;
    const again: CgroupWrite[] = [];
    for (const write of cgroupWrites(config, fs.version, hugePageSizes)) {
      try {
        await this.#one(path, write);
      } catch (error) {
        // The new period may only go with the new quota.
        if (write.file !== 'cpu.cfs_period_us') throw error;
        again.push(write);
      }
    }
    for (const write of again) await this.#one(path, write);
  }

  async #one(path: string, write: CgroupWrite): Promise<void> {
    try {
      await this.#deps.fs.write(path, write);
    } catch (cause) {
      const code = errorCode(cause);
      throw Object.assign(new Error(`set ${write.file} of cgroup ${path} to ${write.value}: ${errorText(cause)}`, { cause }), { code });
    }
  }

  async #killAll(path: string): Promise<void> {
    const { fs, kill = (pid) => process.kill(pid, 'SIGKILL') } = this.#deps;
    for (const pid of await fs.processes(path)) {
      // 0 is one of another process namespace.
      if (pid <= 1 || pid === process.pid) continue;
      try {
        kill(pid);
      } catch (error) {
        if (errorCode(error) !== 'ESRCH') throw error;
      }
    }
  }

  async #stays(path: string, cause: unknown): Promise<Error> {
    const left = [...(await this.#deps.fs.processes(path).catch(() => []))].slice(0, 5);
    const who = left.length > 0 ? `: processes ${left.join(', ')} do not end` : '';
    return new Error(`cgroup ${path} cannot be removed${who}: ${errorText(cause)}`, { cause });
  }

  async #measured(operation: CgroupOperation, name: CgroupName, work: (path: string) => Promise<void>): Promise<void> {
    const { clock, tell } = this.#deps;
    const beganMs = clock.monotonicMs();
    try {
      await work(this.pathOf(name));
    } catch (error) {
      if (operation === 'create' || !isMissingFile(error)) throw error;
      throw new Error(`cgroup ${this.pathOf(name)} is gone: ${errorText(error)}`, { cause: error });
    } finally {
      tell.cgroupOperated({ operation, tookMs: clock.monotonicMs() - beganMs });
    }
  }
}

/** What the kernel calls no limit, rounded down to whole pages. */
const UNLIMITED_BYTES = 2 ** 63 - 4096;
