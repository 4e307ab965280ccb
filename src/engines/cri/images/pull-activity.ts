import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Less than this between two looks is what a machine writes anyway. */
const MOVED_BYTES = 1 << 20;
const MOVED_FILES = 64;

interface Seen {
  /** Downloads that are under way, and those that were left by others. */
  readonly downloads: ReadonlyMap<string, { readonly bytes: number; readonly changedAtMs: number }>;
  readonly freeBytes: number;
  readonly freeFiles: number;
}

/**
 * Whether a pull goes on, by the files in containerd's root directory: of a version that does not look after that itself. As long as there are
 * downloads, these have to grow. After them comes the unpacking, which is left to take as long as it does; where nothing had to be downloaded,
 * that shows in the free space.
 */
export class PullActivity {
  readonly #rootDir: string;
  #first: Seen | undefined;
  #last: Seen | undefined;
  #hasDownloaded = false;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
  }

  /** Since the last look, the first of which is as the pull begins; true where that cannot be said. */
  async look(): Promise<boolean> {
    const seen = await this.#see().catch(() => undefined);
    const last = this.#last;
    this.#first ??= seen;
    this.#last = seen;
    if (seen === undefined || last === undefined) return true;
    const downloading = this.#bytesOf(seen);
    if (downloading !== undefined) {
      this.#hasDownloaded = true;
      return downloading !== this.#bytesOf(last);
    }
    if (this.#hasDownloaded) return true;
    return Math.abs(seen.freeBytes - last.freeBytes) >= MOVED_BYTES || Math.abs(seen.freeFiles - last.freeFiles) >= MOVED_FILES;
  }

  /** Of the downloads that have begun, or gone on, since the first look; undefined: there are none. */
  #bytesOf({ downloads }: Seen): number | undefined {
    const before = this.#first?.downloads;
    const own = [...downloads].filter(([name, { changedAtMs }]) => before?.get(name)?.changedAtMs !== changedAtMs);
    return own.length === 0 ? undefined : own.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  }

  async #see(): Promise<Seen> {
    const ingest = join(this.#rootDir, 'io.containerd.content.v1.content/ingest');
    const [names, { bfree, bsize, ffree }] = await Promise.all([readdir(ingest), statfs(this.#rootDir)]);
    const found = await Promise.all(
      names.map(async (name) => {
        // One that has just been finished is gone.
        const data = await stat(join(ingest, name, 'data')).catch(() => undefined);
        return data === undefined ? [] : [[name, { bytes: data.size, changedAtMs: data.mtimeMs }] as const];
      }),
    );
    return { downloads: new Map(found.flat()), freeBytes: bfree * bsize, freeFiles: ffree };
  }
}
