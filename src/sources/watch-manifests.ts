import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { interval, Observable, startWith } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';

export interface WatchManifestsDeps {
  /** A directory of manifests, or one manifest: then its directory is watched. */
  readonly path: string;
  /** Whether it lies on a server's file system now: then it is not watched, but looked at as often as the watch is looked after. Default: never. */
  readonly isServers: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How often the watch is looked after, and a directory that is not there looked for (retryPeriod in pkg/kubelet/config/file_linux.go). */
const CHECK_MS = 1000;

/**
 * Names of files that may have changed; undefined when any may have. Lossy: look again from time to time. A directory that vanishes
 * is watched again once it is back. Never errors or completes.
 */
export function watchManifests({ path, isServers, clock, log }: WatchManifestsDeps): Observable<string | undefined> {
  return new Observable((subscriber) => {
    const watched = new Watched(path, isServers, log, (name) => subscriber.next(name));
    subscriber.add(() => watched.close());
    const looksAfter = interval(CHECK_MS, clock).pipe(startWith(0));
    subscriber.add(
      looksAfter.subscribe(() => {
        if (watched.arm()) subscriber.next(undefined);
      }),
    );
  });
}

/** One inotify watch, made again whenever it is not on the directory that has the path now. */
class Watched {
  readonly #path: string;
  readonly #isServers: () => boolean;
  readonly #log: Logger;
  readonly #onChange: (name: string | undefined) => void;
  #watcher: FSWatcher | undefined;
  #identity: string | undefined;
  #failure: string | undefined;

  constructor(path: string, isServers: () => boolean, log: Logger, onChange: (name: string | undefined) => void) {
    this.#path = path;
    this.#isServers = isServers;
    this.#log = log;
    this.#onChange = onChange;
  }

  /** True when there is a new watch, and with it a gap in what was heard, or when there can be none. */
  arm(): boolean {
    try {
      if (this.#isServers()) {
        this.close();
        return true;
      }
      const target = targetOf(this.#path);
      if (target !== undefined && target.identity === this.#identity) return false;
      this.close();
      if (target === undefined) return false;
      this.#watcher = watch(target.directory, { persistent: true }, (_, name) => this.#hear(name, target.directory));
      this.#watcher.on('error', (error) => this.#fail(error));
      this.#identity = target.identity;
      this.#failure = undefined;
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#identity = undefined;
  }

  #hear(name: string | null, directory: string): void {
    // What a directory reports under its own name is that it was removed or renamed.
    if (name === basename(directory)) this.arm();
    if (name === null || name === basename(directory) || name.startsWith('..')) this.#onChange(undefined);
    else if (!name.startsWith('.')) this.#onChange(name);
  }

  /** Without a watch, changes are found by looking. */
  #fail(error: unknown): void {
    this.close();
    const text = String(error);
    if (text !== this.#failure) this.#log.warn('manifests not watched: changes are found at the next look', { path: this.#path, error });
    this.#failure = text;
  }
}

/** The directory to watch and which one that is; undefined when there is none. */
function targetOf(path: string): { readonly directory: string; readonly identity: string } | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  const directory = stats === undefined || stats.isDirectory() ? path : dirname(path);
  const watched = statSync(directory, { throwIfNoEntry: false });
  return watched === undefined ? undefined : { directory, identity: `${directory}:${watched.dev}:${watched.ino}` };
}
