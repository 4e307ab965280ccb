import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Subscription } from 'rxjs';
import { abortable } from '../../../base/abortable.ts';
import type { Clock } from '../../../base/clock.ts';

/** How often to look without a hint: the kernel's hints may be lost, and a container's end is none (logForceCheckPeriod, 1 s). */
const LOOK_MS = 1_000;
/** Writes that come faster than this are one hint. */
const GATHER_MS = 25;

/** What all followers of one file share: one watcher, one timer, one look at the container. */
export interface LogWatch {
  /** How many share this watch. */
  readonly followers: number;
  /** Counts up with everything that may have happened to the file. */
  readonly version: number;
  /** Counts up when there may be another file under this name. */
  readonly generation: number;
  /** The container has ended: what is in the file by now is all. Once true, it stays so. */
  readonly ended: boolean;
  /** Resolves when the version is no longer the given one, or `signal` aborts. */
  changed(version: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The watches of log files that are being followed, one a file, for as long as it is followed. */
export class LogWatches {
  readonly #clock: Clock;
  readonly #watches = new Map<string, SharedWatch>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `isRunning` is asked every second; the first one's is asked for all. A rejection means that it is not known. */
  open(path: string, isRunning: () => Promise<boolean>): LogWatch {
    const shared = this.#watches.get(path) ?? new SharedWatch(path, this.#clock, isRunning);
    this.#watches.set(path, shared);
    shared.users++;
    let open = true;
    return {
      get followers() {
        return shared.users;
      },
      get version() {
        return shared.version;
      },
      get generation() {
        return shared.generation;
      },
      get ended() {
        return shared.ended;
      },
      changed: (version, signal) => shared.changed(version, signal),
      close: () => {
        if (!open) return;
        open = false;
        if (--shared.users > 0) return;
        this.#watches.delete(path);
        shared.stop();
      },
    };
  }
}

class SharedWatch {
  users = 0;
  version = 0;
  generation = 0;
  ended = false;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #isRunning: () => Promise<boolean>;
  readonly #waiting = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #look: Subscription;
  #gathering: Subscription | undefined;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(path: string, clock: Clock, isRunning: () => Promise<boolean>) {
    this.#name = basename(path);
    this.#clock = clock;
    this.#isRunning = isRunning;
    try {
      // The directory, as a rotated file takes a watcher of its own along.
      this.#watcher = watch(dirname(path), { persistent: false }, (event, name) => this.#happened(event, name));
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // No more watchers to be had, or no directory: looking now and then has to do.
    }
    this.#look = this.#lookLater();
  }

  changed(version: number, signal: AbortSignal): Promise<void> {
    if (version !== this.version || signal.aborted) return Promise.resolve();
    const changed = abortable<void>(signal, (resolve) => {
      const done = (): void => resolve();
      this.#waiting.add(done);
      return () => void this.#waiting.delete(done);
    });
    return changed.catch(() => {});
  }

  stop(): void {
    this.#watcher?.close();
    this.#look.unsubscribe();
    this.#gathering?.unsubscribe();
  }

  #happened(event: string, name: string | null): void {
    if (name !== null && name !== this.#name) return;
    if (event === 'rename') this.generation++;
    if (this.#gathering) return;
    const waitMs = this.#reportedAtMs + GATHER_MS - this.#clock.monotonicMs();
    if (waitMs <= 0) this.#report();
    else
      this.#gathering = this.#clock.schedule(() => {
        this.#gathering = undefined;
        this.#report();
      }, waitMs);
  }

  #report(): void {
    this.#reportedAtMs = this.#clock.monotonicMs();
    this.version++;
    for (const done of this.#waiting) done();
  }

  #lookLater(): Subscription {
    return this.#clock.schedule(() => void this.#lookNow(), LOOK_MS);
  }

  async #lookNow(): Promise<void> {
    const running = await this.#isRunning().catch(() => true);
    if (this.users === 0) return;
    this.ended ||= !running;
    this.generation++;
    this.#report();
    this.#look = this.#lookLater();
  }
}
