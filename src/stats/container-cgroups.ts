import { join } from 'node:path';
import { type CgroupPaths, parseCgroupPaths } from '../base/cgroup-paths.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import type { RunningContainer } from '../ports/running-pods.ts';
import { textOf } from './cgroup-reader.ts';

/** Which cgroup a container's process is in: found once for each process. */
export class ContainerCgroups {
  readonly #proc: string;
  readonly #known = new Map<ContainerId, { readonly pid: number; readonly paths: CgroupPaths }>();

  constructor(proc: string) {
    this.#proc = proc;
  }

  /** Undefined when the process is gone, or its number is another's by now. */
  of({ id, pid }: RunningContainer): CgroupPaths | undefined {
    const known = this.#known.get(id);
    if (known?.pid === pid) return known.paths;
    const text = textOf(join(this.#proc, String(pid), 'cgroup'));
    // Every engine names a container's cgroup after its id.
    if (text === undefined || !text.includes(id)) return undefined;
    const paths = parseCgroupPaths(text);
    this.#known.set(id, { pid, paths });
    return paths;
  }

  forget(id: ContainerId): void {
    this.#known.delete(id);
  }

  /** Forgets all but these. */
  keep(ids: ReadonlySet<ContainerId>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }
}
