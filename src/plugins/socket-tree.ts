import { type FSWatcher, watch } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { abortable } from '../base/abortable.ts';
import { isMissingFile } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { makeDirectory } from '../base/make-directory.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';

/** A node has some dozens of plugins; the kernel's watches are few, and each name costs a call at each look. */
const MAX_SOCKETS = 1_000;
const MAX_DIRECTORIES = 256;
const MAX_NAMES = 20_000;

/** The sockets by their paths, each with which one it is: one that was made again at the same path is another. */
export type Sockets = ReadonlyMap<string, string>;

interface Found {
  readonly sockets: Map<string, string>;
  readonly directories: Map<string, string>;
  names: number;
}

/**
 * The sockets in a directory and in those below it, heard of by the kernel's events (pkg/kubelet/pluginmanager/pluginwatcher). What begins with a
 * dot is left out; so is what is no socket. A link counts as the socket that it leads to; one to a directory is not followed. Of more than a
 * thousand sockets those that were there first count.
 */
export class SocketTree {
  readonly #root: string;
  readonly #log: Logger;
  readonly #faults = new OngoingFaults<string>();
  readonly #watches = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  #sockets: Sockets = new Map();
  #changed = false;
  #wake: (() => void) | undefined;

  constructor(root: string, log: Logger) {
    this.#root = root;
    this.#log = log;
  }

  /** What is there now; what changes from here on is heard. Makes the directory where it is missing. Rejects where it cannot be watched. */
  async look(): Promise<Sockets> {
    this.#changed = false;
    await makeDirectory(this.#root, 0o750);
    const found: Found = { sockets: new Map(), directories: new Map(), names: 0 };
    await this.#walk(this.#root, found);
    for (const [directory, { watcher, identity }] of this.#watches) {
      if (found.directories.get(directory) === identity) continue;
      watcher.close();
      this.#watches.delete(directory);
    }
    this.#report('names', found.names > MAX_NAMES ? `more than ${MAX_NAMES} names are in it; the rest is not looked at` : undefined);
    this.#sockets = this.#bounded(found.sockets);
    return this.#sockets;
  }

  /** Resolves when something has changed since the last look began. */
  async changed(signal: AbortSignal): Promise<void> {
    if (this.#changed) return;
    await abortable<void>(signal, (resolve) => {
      this.#wake = () => resolve();
    });
  }

  close(): void {
    for (const { watcher } of this.#watches.values()) watcher.close();
    this.#watches.clear();
  }

  async #walk(directory: string, found: Found): Promise<void> {
    if (found.directories.size >= MAX_DIRECTORIES) {
      this.#report('directories', `more than ${MAX_DIRECTORIES} directories are in it; ${directory} is not looked at`);
      return;
    }
    try {
      // First: what is made meanwhile is heard of, and seen or not.
      found.directories.set(directory, await this.#watch(directory));
      for await (const entry of await opendir(directory)) {
        if (++found.names > MAX_NAMES) return;
        if (entry.name.startsWith('.')) continue;
        const path = join(directory, entry.name);
        if (entry.isDirectory()) await this.#walk(path, found);
        else if (entry.isSocket() || entry.isSymbolicLink()) await this.#note(path, found);
      }
      this.#report(directory, undefined);
    } catch (error) {
      if (directory === this.#root) throw error;
      // One below may be gone again.
      if (!isMissingFile(error)) this.#report(directory, error);
    }
  }

  async #note(path: string, { sockets }: Found): Promise<void> {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    // An inode's number is given again at once; a time alone is as coarse as the kernel's ticks. The time of a change of mode is not in it.
    if (stats?.isSocket()) sockets.set(path, `${stats.dev}:${stats.ino}:${stats.mtimeNs}:${stats.birthtimeNs}`);
  }

  async #watch(directory: string): Promise<string> {
    const { dev, ino } = await stat(directory, { bigint: true });
    const identity = `${dev}:${ino}`;
    const before = this.#watches.get(directory);
    if (before?.identity === identity) return identity;
    before?.watcher.close();
    this.#watches.delete(directory);
    const over = (): void => {
      watcher.close();
      if (this.#watches.get(directory)?.watcher === watcher) this.#watches.delete(directory);
      this.#hear();
    };
    const watcher = watch(directory, (event, name) => {
      if (event !== 'rename') return;
      // By its own name a directory is told to be gone, and with it the watch; one that is made at once may have its inode.
      if (name === basename(directory)) over();
      else this.#hear();
    });
    watcher.on('error', over);
    this.#watches.set(directory, { identity, watcher });
    return identity;
  }

  #bounded(sockets: Map<string, string>): Sockets {
    this.#report('sockets', sockets.size > MAX_SOCKETS ? `more than ${MAX_SOCKETS} sockets are in it; the newest are left out` : undefined);
    if (sockets.size <= MAX_SOCKETS) return sockets;
    const first = [...sockets].filter(([path]) => this.#sockets.has(path));
    const others = [...sockets].filter(([path]) => !this.#sockets.has(path));
    return new Map([...first, ...others].slice(0, MAX_SOCKETS));
  }

  #hear(): void {
    this.#changed = true;
    this.#wake?.();
  }

  /** Once for each cause; undefined: it is over. */
  #report(about: string, why: unknown): void {
    if (why === undefined) this.#faults.over(about);
    else if (this.#faults.fault(about, why))
      this.#log.warn('not all of the directory of plugins is looked at', { directory: this.#root, found: errorText(why) });
  }
}
