import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import { isServers } from '../base/leads-to-server.ts';
import { type MountPoint, mountOf } from '../base/mount-info.ts';
import { formatTime } from '../model/time.ts';
import type { SilentFileSystem } from '../ports/host-files.ts';

export interface FileSystemGuardDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs' | 'schedule'>;
  /** What is mounted. */
  readonly table: () => readonly MountPoint[];
  /** Called whenever a file system falls silent or answers again: all that are silent now. */
  readonly onChange: (silent: readonly SilentFileSystem[]) => void;
  /** How many calls may be under way together: each that hangs holds a thread. */
  readonly threads: number;
}

/** How long a call may take. A server that takes longer for one call is no use to a pod either; what it answers later still counts. */
export const CALL_DEADLINE_MS = 10_000;
/** Calls to one file system at a time: so many hang when it falls silent. */
const CALLS_EACH = 2;
/** Of the threads, how many calls may hold that go to servers. */
const SERVERS_SHARE = 0.75;
/** When a silent file system is asked again, beside the calls that still wait for it: those may have been lost on the way. */
const askAgainMs = exponential(10_000, 3_600_000);
const TABLE_FRESH_MS = 1_000;

interface FileSystem {
  /** Those that are in time. */
  calls: number;
  /** Calls that wait for their turn. */
  readonly waiting: Set<() => void>;
  silent: Silent | undefined;
}

interface Silent extends SilentFileSystem {
  tries: number;
  askAgainAtMs: number;
}

/**
 * Calls of file systems that may never answer. A file system that leaves a call without an answer is silent: further calls fail at once, until
 * one of those that hang is answered, or one that is let through to ask again. A call that hangs cannot be taken back, so that few are made to
 * one file system at a time. File systems are identified by their device, as what is mounted in several places hangs in all of them; while a
 * call hangs, the kernel gives the device's number to no other.
 */
export class FileSystemGuard {
  readonly #deps: FileSystemGuardDeps;
  readonly #fileSystems = new Map<string, FileSystem>();
  #table: { readonly mounts: readonly MountPoint[]; readonly atMs: number } | undefined;
  /** Also those that hang. */
  #calls = 0;

  constructor(deps: FileSystemGuardDeps) {
    this.#deps = deps;
  }

  /** Makes the call, in its turn. Rejects with its error, or with one that tells which file system does not answer. */
  async touch<T>(path: string, call: (alive: () => void) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const mount = mountOf(this.#mounts(), path);
    const device = mount?.device ?? '';
    const fileSystem = this.#fileSystems.get(device) ?? { calls: 0, waiting: new Set(), silent: undefined };
    this.#fileSystems.set(device, fileSystem);
    // Between the last look here and the call nothing else has its turn.
    while (fileSystem.silent === undefined && fileSystem.calls >= CALLS_EACH) {
      await new Promise<void>((resolve) => fileSystem.waiting.add(resolve));
      signal.throwIfAborted();
    }
    const asksAgain = fileSystem.silent !== undefined;
    if (fileSystem.silent !== undefined) this.#checkAskAgain(fileSystem.silent);
    // Pods mount as many servers as they like: the node's own disks are looked at all the same.
    if (this.#calls >= this.#deps.threads * (isServers(mount) ? SERVERS_SHARE : 1)) {
      throw new Error(`cannot look at ${path}: ${this.#calls} calls of file systems that do not answer hang already`);
    }
    return this.#call(fileSystem, { device, mount: mount?.path ?? '/', path }, call, asksAgain, signal);
  }

  silent(): readonly SilentFileSystem[] {
    const all = [...this.#fileSystems.values()].flatMap(({ silent }) => silent ?? []);
    return all.map(({ mount, device, path, sinceMs }) => ({ mount, device, path, sinceMs }));
  }

  /** Whether something is under way or hangs. */
  get isBusy(): boolean {
    return this.#calls > 0;
  }

  #mounts(): readonly MountPoint[] {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#table === undefined || nowMs - this.#table.atMs >= TABLE_FRESH_MS) this.#table = { mounts: this.#deps.table(), atMs: nowMs };
    return this.#table.mounts;
  }

  #checkAskAgain(silent: Silent): void {
    const nowMs = this.#deps.clock.monotonicMs();
    // Asking must leave threads to those file systems that answer.
    if (nowMs < silent.askAgainAtMs || this.#calls >= this.#deps.threads / 2) throw notAnswering(silent);
    silent.tries++;
    silent.askAgainAtMs = nowMs + askAgainMs(silent.tries);
  }

  #call<T>(
    fileSystem: FileSystem,
    { device, mount, path }: { readonly device: string; readonly mount: string; readonly path: string },
    call: (alive: () => void) => Promise<T>,
    asksAgain: boolean,
    signal: AbortSignal,
  ): Promise<T> {
    const { clock } = this.#deps;
    const sinceMs = clock.now();
    this.#calls++;
    fileSystem.calls++;
    return new Promise<T>((resolve, reject) => {
      let late = false;
      let inTurn = true;
      const endTurn = (): void => {
        if (!inTurn) return;
        inTurn = false;
        fileSystem.calls--;
        wakeAll(fileSystem);
      };
      const missed = (): void => {
        late = true;
        if (fileSystem.silent === undefined) {
          fileSystem.silent = { device, mount, path, sinceMs, tries: 1, askAgainAtMs: clock.monotonicMs() + askAgainMs(1) };
          this.#deps.onChange(this.silent());
        }
        endTurn();
        wakeAll(fileSystem);
        reject(notAnswering(fileSystem.silent));
      };
      let deadline = clock.schedule(missed, CALL_DEADLINE_MS);
      // One that makes calls for long lets others have their turn meanwhile.
      const alive = (): void => {
        signal.throwIfAborted();
        if (late) throw new Error('the caller has given up');
        deadline.unsubscribe();
        deadline = clock.schedule(missed, CALL_DEADLINE_MS);
        endTurn();
      };
      const ended = (): void => {
        deadline.unsubscribe();
        this.#calls--;
        endTurn();
        if (fileSystem.silent !== undefined && (late || asksAgain)) {
          fileSystem.silent = undefined;
          this.#deps.onChange(this.silent());
        }
      };
      call(alive).then(
        (value) => {
          ended();
          if (late) closeUnused(value);
          resolve(value);
        },
        (error: unknown) => {
          ended();
          reject(error);
        },
      );
    });
  }
}

function wakeAll({ waiting }: FileSystem): void {
  const all = [...waiting];
  waiting.clear();
  for (const wake of all) wake();
}

/** Words that stay the same while it lasts, so that they are reported once. */
function notAnswering({ mount, path, sinceMs }: SilentFileSystem): Error {
  const where = path === mount ? path : `${path} on ${mount}`;
  return new Error(`the file system at ${where} does not answer, since ${formatTime(sinceMs)}: it is looked at again when it does`);
}

/** A file that was opened for a caller who no longer waits. */
function closeUnused(value: unknown): void {
  if (typeof value !== 'object' || value === null || !('close' in value) || typeof value.close !== 'function') return;
  Promise.resolve(value.close()).catch(() => {});
}
