import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorText } from '../base/error-text.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { leadsToServer } from '../base/leads-to-server.ts';
import type { Logger } from '../base/logger.ts';
import { mountsNow } from '../base/mount-info.ts';
import type { Lookup } from './lookups.ts';

/** Every name counts. */
export const ANY = '*';
/** So many directories are no place for settings; the kernel's watches are few. */
const MAX_WATCHES = 256;
/** How often it is looked again where paths lead while that is being changed. */
const MAX_ROUNDS = 5;

interface Watched {
  readonly watcher: FSWatcher;
  names: ReadonlySet<string>;
}

/** Hears of changes of some names in some directories, by the kernel's events. What no watch can be had for is said once. */
export class PathWatch {
  readonly #log: Logger;
  readonly #onChange: () => void;
  readonly #faults = new OngoingFaults<string>();
  /** By the directory's path and which one it is. */
  #watched = new Map<string, Watched>();

  constructor(log: Logger, onChange: () => void) {
    this.#log = log;
    this.#onChange = onChange;
  }

  /** How many directories are watched. */
  get size(): number {
    return this.#watched.size;
  }

  /** Watches what `lookups` says now, and no more: what changes from then on is heard. */
  async arm(lookups: () => Promise<readonly Lookup[]>): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      // A path may have come to lead elsewhere before its new directories were watched.
      if (!(await this.#watch(await lookups()))) return;
    }
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  /** Whether there is any new watch. */
  async #watch(lookups: readonly Lookup[]): Promise<boolean> {
    const wanted = new Map<string, Set<string>>();
    for (const { directory, name } of lookups) wanted.set(directory, (wanted.get(directory) ?? new Set()).add(name));
    if (wanted.size > MAX_WATCHES) this.#fail('directories', `more than ${MAX_WATCHES} directories`);
    const kept = new Map<string, Watched>();
    let isNew = false;
    for (const [directory, names] of [...wanted].slice(0, MAX_WATCHES)) {
      const identity = await identityOf(directory);
      if (identity === undefined) continue;
      const before = this.#watched.get(identity);
      if (before) {
        before.names = names;
        kept.set(identity, before);
        continue;
      }
      const watched = this.#open(directory, names);
      if (watched === undefined) continue;
      kept.set(identity, watched);
      isNew = true;
    }
    for (const [identity, { watcher }] of this.#watched) if (!kept.has(identity)) watcher.close();
    this.#watched = kept;
    return isNew;
  }

  #open(directory: string, names: ReadonlySet<string>): Watched | undefined {
    // Such a call may never return, and a server's own changes are not heard of.
    if (leadsToServer(directory, mountsNow())) {
      this.#fail(directory, 'it is on the file system of a server');
      return undefined;
    }
    try {
      const watched: Watched = {
        watcher: watch(directory, (_, name) => {
          // What a directory reports under its own name is that it was removed or renamed.
          if (name === null || watched.names.has(ANY) || watched.names.has(name) || name === basename(directory)) this.#onChange();
        }),
        names,
      };
      watched.watcher.on('error', (error) => {
        watched.watcher.close();
        for (const [identity, each] of this.#watched) if (each === watched) this.#watched.delete(identity);
        this.#fail(directory, error);
      });
      this.#faults.over(directory);
      return watched;
    } catch (error) {
      this.#fail(directory, error);
      return undefined;
    }
  }

  #fail(directory: string, why: unknown): void {
    if (this.#faults.fault(directory, why))
      this.#log.warn('changes of the configuration are not noticed here before the next start', { directory, found: errorText(why) });
  }
}

/** Undefined: there is none. */
async function identityOf(directory: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(directory);
    return `${dev}:${ino}:${directory}`;
  } catch {
    return undefined;
  }
}
