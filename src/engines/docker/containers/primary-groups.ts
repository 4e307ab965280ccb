import { posix } from 'node:path';
import { LruMap } from '../../../base/lru-map.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { isNotFound } from '../client/engine-errors.ts';
import { readTarEntry, type TarEntry } from './tar-entry.ts';

/** So many images' users are remembered: an image never changes under its id. */
const MAX_ENTRIES = 1000;
const MAX_PASSWD_BYTES = 1024 * 1024;
/** As Linux follows at most (path_resolution(7)). */
const MAX_LINKS = 40;

/** The primary groups of users, as their images say in /etc/passwd. */
export class PrimaryGroups {
  readonly #client: EngineClient;
  readonly #known = new LruMap<string, number>(MAX_ENTRIES);

  constructor(client: EngineClient) {
    this.#client = client;
  }

  /**
   * Of a user by number or name; the engine's own choice, 0, where the image does not know him. An image that was not asked yet is read
   * through a container of it that need not run: `withContainer` makes one for as long.
   */
  async of(
    imageRef: string,
    user: string,
    withContainer: (read: (id: string) => Promise<number>) => Promise<number>,
    signal: AbortSignal,
  ): Promise<number> {
    const key = `${imageRef} ${user}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const group = await withContainer(async (id) => groupOf(user, await this.#passwd(id, signal)));
    if (imageRef.startsWith('sha256:')) this.#known.set(key, group);
    return group;
  }

  /** Empty where the image has none. */
  async #passwd(id: string, signal: AbortSignal): Promise<string> {
    let path = '/etc/passwd';
    for (let links = 0; links <= MAX_LINKS; links++) {
      const entry = await this.#entry(id, path, signal);
      if (entry === undefined) return '';
      if (entry.is === 'file') return entry.data.toString('utf8');
      path = posix.resolve(posix.dirname(path), entry.target);
    }
    throw new Error('/etc/passwd of the image is a link that leads nowhere');
  }

  async #entry(id: string, path: string, signal: AbortSignal): Promise<TarEntry | undefined> {
    const client = this.#client;
    try {
      // Within the call: its deadline is for the whole archive.
      return await client.call(`GET /containers/${id}/archive?path=${path}`, client.requestTimeoutMs, signal, async (docker) =>
        readTarEntry(await docker.getContainer(id).getArchive({ path }), MAX_PASSWD_BYTES),
      );
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** As the engine reads the file: the first line that has the user by name or number. */
function groupOf(user: string, passwd: string): number {
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid = ''] = line.trim().split(':');
    if (name === user || uid === user) return /^\d+$/.test(gid) ? Number(gid) : 0;
  }
  return 0;
}
