import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { withDeadline } from '../../base/with-deadline.ts';
import type { PodUid } from '../../model/pod.ts';
import type { Decode, StateFile, StateFiles } from '../../ports/state-files.ts';

interface Entry<T> {
  readonly file: StateFile<T>;
  saved: Promise<void>;
  /** It is not saved yet, and has not failed. */
  isBeingWritten: boolean;
  /** What could not be written last. */
  unsaved: T | undefined;
  /** Since the last that was written. */
  hasFailed: boolean;
}

/** How soon it is looked whether a disk that took nothing has room again: with one record, whatever their number. */
const RETRY_MS = 1_000;

/** A disk that hangs is reported with the pod that waits for it, which is tried again. */
const SETTLED_WITHIN_MS = 30_000;

export type RecordsClock = Pick<Clock, 'schedule' | 'monotonicMs'>;

export interface PodRecordsDeps<T> {
  readonly clock: RecordsClock;
  readonly filesOf: (uid: PodUid) => StateFiles;
  readonly log: Logger;
  /** "end.json" */
  readonly name: string;
  /** What is recorded: "end of a pod". */
  readonly what: string;
  /** What follows where it is lost: "an agent that starts before may start the pod again". */
  readonly lost: string;
  /** Undefined: what was read makes no sense. */
  readonly decode: Decode<T>;
}

/** One thing that is known of each pod and outlives the agent: a file a pod, which goes with the pod's directory. */
export class PodRecords<T> {
  readonly #deps: PodRecordsDeps<T>;
  readonly #entries = new Map<PodUid, Entry<T> | undefined>();
  /** Of them, those with something unsaved. */
  readonly #unsaved = new Set<PodUid>();
  #timer: { unsubscribe(): void } | undefined;

  constructor(deps: PodRecordsDeps<T>) {
    this.#deps = deps;
  }

  load(uid: PodUid): T | undefined {
    return this.#of(uid)?.file.load();
  }

  /** Does not wait. */
  save(uid: PodUid, value: T): void {
    const entry = this.#of(uid);
    if (entry) this.#write(uid, entry, value);
  }

  /** Resolves once nothing is written any more: the pod's directory may be removed. Rejects where that takes longer than 30 s. */
  async settled(uid: PodUid, signal: AbortSignal): Promise<void> {
    const entry = this.#entries.get(uid);
    // No timer for what is saved already: a release is nothing that waits.
    if (entry?.isBeingWritten !== true) return;
    const { clock, what } = this.#deps;
    await withDeadline(clock, SETTLED_WITHIN_MS, `writing the ${what} to disk`, signal, (within) => unlessAborted(entry.saved, within));
  }

  forget(uid: PodUid): void {
    this.#entries.delete(uid);
    this.#unsaved.delete(uid);
    if (this.#unsaved.size > 0) return;
    this.#timer?.unsubscribe();
    this.#timer = undefined;
  }

  #write(uid: PodUid, entry: Entry<T>, value: T): void {
    entry.unsaved = undefined;
    entry.isBeingWritten = true;
    this.#unsaved.delete(uid);
    const write = async (): Promise<void> => {
      try {
        await entry.file.save(value);
        entry.hasFailed = false;
        // There is room again.
        this.#retryNext();
      } catch (error) {
        entry.unsaved = value;
        const { what, lost, log } = this.#deps;
        if (!entry.hasFailed) log.warn(`${what} not saved, which is tried again: ${lost}`, { uid, error });
        entry.hasFailed = true;
        if (this.#entries.get(uid) === entry) this.#retryLater(uid);
      }
    };
    const saved = write().then(() => {
      if (entry.saved === saved) entry.isBeingWritten = false;
    });
    entry.saved = saved;
  }

  #retryLater(uid: PodUid): void {
    this.#unsaved.add(uid);
    this.#timer ??= this.#deps.clock.schedule(() => {
      this.#timer = undefined;
      this.#retryNext();
    }, RETRY_MS);
  }

  #retryNext(): void {
    const [uid] = this.#unsaved;
    const entry = uid === undefined ? undefined : this.#entries.get(uid);
    if (uid !== undefined && entry?.unsaved !== undefined) this.#write(uid, entry, entry.unsaved);
  }

  /** Undefined: the pod's uid cannot name a directory. */
  #of(uid: PodUid): Entry<T> | undefined {
    if (!this.#entries.has(uid)) this.#entries.set(uid, this.#open(uid));
    return this.#entries.get(uid);
  }

  #open(uid: PodUid): Entry<T> | undefined {
    const { filesOf, log, name, what, decode } = this.#deps;
    try {
      return {
        file: filesOf(uid).open(name, decode),
        saved: Promise.resolve(),
        isBeingWritten: false,
        unsaved: undefined,
        hasFailed: false,
      };
    } catch (error) {
      log.v(2, `${what} not kept`, { uid, error });
      return undefined;
    }
  }
}
