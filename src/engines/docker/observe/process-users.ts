import { readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ContainerInspectInfo } from 'dockerode';
import { isJsonObject } from '../../../base/json-object.ts';
import { LruMap } from '../../../base/lru-map.ts';
import { readRegularFile } from '../../../base/read-regular-file.ts';
import type { ObservedContainer } from '../../../ports/container-runtime.ts';

type User = NonNullable<ObservedContainer['user']>;

/** Of a container with thousands of mounts and variables. */
const MAX_BYTES = 4 << 20;
const MAX_ENTRIES = 10_000;

/**
 * As whom containers' first processes began. The engine does not tell: names are resolved, and groups found, within the image. What it came
 * to is in the bundle, which the process above the container's knows. Undefined where that is not to be seen, as on an engine of
 * another machine. Asked for once a container, while it runs.
 */
export class ProcessUsers {
  readonly #known = new LruMap<string, User | 'unknown'>(MAX_ENTRIES);
  readonly #proc: string;

  constructor(proc = '/proc') {
    this.#proc = proc;
  }

  async of({
    Id,
    State,
  }: Pick<ContainerInspectInfo, 'Id'> & { readonly State: { Running: boolean; Pid: number } }): Promise<User | undefined> {
    let known = this.#known.get(Id);
    if (known === undefined && State.Running && State.Pid > 0) {
      known = (await this.#read(Id, State.Pid).catch(() => undefined)) ?? 'unknown';
      this.#known.set(Id, known);
    }
    return known === 'unknown' ? undefined : known;
  }

  async #read(id: string, pid: number): Promise<User | undefined> {
    const status = await readRegularFile(join(this.#proc, String(pid), 'status'), MAX_BYTES);
    const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1];
    if (parent === undefined) return undefined;
    const bundle = await this.#bundle(id, join(this.#proc, parent));
    if (bundle === undefined) return undefined;
    const config: unknown = JSON.parse(await readRegularFile(join(bundle, 'config.json'), MAX_BYTES));
    const process = isJsonObject(config) ? config['process'] : undefined;
    return userIn(isJsonObject(process) ? process['user'] : undefined);
  }

  /** Where that process was started, or what it was given: conmon, Podman's, is started anywhere. Undefined: it is another's, as numbers of processes are used again. */
  async #bundle(id: string, process: string): Promise<string | undefined> {
    const directory = join(process, 'cwd');
    if (basename(await readlink(directory)) === id) return directory;
    const args = (await readRegularFile(join(process, 'cmdline'), MAX_BYTES)).split('\0');
    const given = args[args.indexOf('-b') + 1] ?? '';
    return basename(dirname(given)) === id ? given : undefined;
  }
}

/** As the OCI runtime specification has it. */
function userIn(user: unknown): User | undefined {
  if (!isJsonObject(user)) return undefined;
  const { uid, gid, additionalGids } = user;
  if (typeof uid !== 'number' || typeof gid !== 'number') return undefined;
  const groups = Array.isArray(additionalGids) ? additionalGids.filter((each) => typeof each === 'number') : [];
  return { uid, gid, ...(groups.length > 0 ? { supplementalGroups: groups } : {}) };
}
