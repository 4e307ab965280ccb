import type { CgroupFs } from '../../src/cgroups/cgroup-fs.ts';
import type { CgroupWrite } from '../../src/cgroups/cgroup-writes.ts';

/** Cgroups of a kernel that does as it is told. */
export class CgroupsInMemory implements CgroupFs {
  readonly version: 1 | 2;
  /** Path to files. */
  readonly cgroups = new Map<string, { readonly id: number; readonly files: Map<string, string>; readonly pids: Set<number> }>();
  /** All that was written, as "/kubepods cpu.shares=2". */
  readonly written: string[] = [];
  /** What a write ends with in place of being done. */
  refuses: (path: string, write: CgroupWrite) => Error | undefined = () => undefined;
  #ids = 0;

  constructor(version: 1 | 2 = 1) {
    this.version = version;
    this.#add('/');
  }

  async identity(path: string): Promise<string | undefined> {
    const found = this.cgroups.get(path);
    return found && `${found.id}`;
  }

  async make(path: string): Promise<void> {
    const parts = path.split('/').slice(1);
    for (const [depth] of parts.entries()) this.#add(`/${parts.slice(0, depth + 1).join('/')}`);
  }

  async write(path: string, write: CgroupWrite): Promise<void> {
    const error = this.refuses(path, write);
    if (error) throw error;
    const found = this.cgroups.get(path);
    if (!found) throw failure('ENOENT');
    found.files.set(write.file, write.value);
    this.written.push(`${path} ${write.file}=${write.value}`);
  }

  async read(path: string, _controller: string, file: string): Promise<string | undefined> {
    return this.cgroups.get(path)?.files.get(file);
  }

  async children(path: string): Promise<readonly string[]> {
    const above = path === '/' ? '/' : `${path}/`;
    return [...this.cgroups.keys()]
      .filter((each) => each.startsWith(above))
      .flatMap((each) => (/^[^/]+$/.exec(each.slice(above.length)) ?? []).slice(0, 1));
  }

  async processes(path: string): Promise<ReadonlySet<number>> {
    return new Set([...this.cgroups].flatMap(([each, { pids }]) => (each === path || each.startsWith(`${path}/`) ? [...pids] : [])));
  }

  async members(path: string): Promise<ReadonlySet<number>> {
    return new Set(this.cgroups.get(path)?.pids);
  }

  async remove(path: string): Promise<void> {
    if ((await this.processes(path)).size > 0) throw failure('EBUSY');
    for (const each of this.cgroups.keys()) if (each === path || each.startsWith(`${path}/`)) this.cgroups.delete(each);
  }

  async enter(path: string, pid: number): Promise<void> {
    for (const { pids } of this.cgroups.values()) pids.delete(pid);
    this.cgroups.get(path)?.pids.add(pid);
  }

  /** A container's cgroup, or another that somebody else made. */
  has(path: string, files: Readonly<Record<string, string>> = {}, ...pids: readonly number[]): void {
    this.#add(path);
    for (const [file, value] of Object.entries(files)) this.cgroups.get(path)?.files.set(file, value);
    for (const pid of pids) this.cgroups.get(path)?.pids.add(pid);
  }

  #add(path: string): void {
    if (!this.cgroups.has(path)) this.cgroups.set(path, { id: ++this.#ids, files: new Map(), pids: new Set() });
  }
}

export const failure = (code: string): Error => Object.assign(new Error(`${code}: as told`), { code });
