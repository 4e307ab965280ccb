import { isJsonObject } from '../base/json-object.ts';
import type { Logger } from '../base/logger.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodEnd } from '../ports/pod-ends.ts';
import type { StateFile, StateFiles } from '../ports/state-files.ts';

interface Entry {
  readonly file: StateFile<PodEnd>;
  saved: Promise<void>;
  /** What could not be written last. */
  unsaved: PodEnd | undefined;
}

/** Why the node ended each pod: a file a pod, which goes with the pod's directory. */
export class EndRecords {
  readonly #filesOf: (uid: PodUid) => StateFiles;
  readonly #log: Logger;
  readonly #entries = new Map<PodUid, Entry | undefined>();

  constructor(filesOf: (uid: PodUid) => StateFiles, log: Logger) {
    this.#filesOf = filesOf;
    this.#log = log;
  }

  load(uid: PodUid): PodEnd | undefined {
    return this.#of(uid)?.file.load();
  }

  /** Does not wait: what a crash loses is decided anew. */
  save(uid: PodUid, end: PodEnd): void {
    const entry = this.#of(uid);
    if (entry) entry.saved = this.#write(uid, entry, end, true);
  }

  /** Tries once more what could not be written: the disk may have room again. */
  retry(uid: PodUid): void {
    const entry = this.#entries.get(uid);
    if (entry?.unsaved) entry.saved = this.#write(uid, entry, entry.unsaved, false);
  }

  /** Resolves once nothing is written any more: the pod's directory may be removed. */
  async settled(uid: PodUid): Promise<void> {
    await this.#entries.get(uid)?.saved;
  }

  forget(uid: PodUid): void {
    this.#entries.delete(uid);
  }

  async #write(uid: PodUid, entry: Entry, end: PodEnd, isFirst: boolean): Promise<void> {
    entry.unsaved = undefined;
    try {
      await entry.file.save(end);
    } catch (error) {
      entry.unsaved = end;
      const message = 'end of a pod not saved, which is tried again: an agent that starts before may start the pod again';
      if (isFirst) this.#log.warn(message, { uid, error });
    }
  }

  /** Undefined: the pod's uid cannot name a directory. */
  #of(uid: PodUid): Entry | undefined {
    if (!this.#entries.has(uid)) this.#entries.set(uid, this.#open(uid));
    return this.#entries.get(uid);
  }

  #open(uid: PodUid): Entry | undefined {
    try {
      return { file: this.#filesOf(uid).open('end.json', decode), saved: Promise.resolve(), unsaved: undefined };
    } catch (error) {
      this.#log.v(2, 'the end of a pod is not kept', { uid, error });
      return undefined;
    }
  }
}

function decode(json: unknown): PodEnd | undefined {
  if (!isJsonObject(json)) return undefined;
  const { reason, message, condition, graceSeconds } = json;
  if (typeof reason !== 'string' || typeof message !== 'string') return undefined;
  if (condition !== undefined && condition !== false && typeof condition !== 'string') return undefined;
  if (graceSeconds !== undefined && typeof graceSeconds !== 'number') return undefined;
  return { reason, message, condition, graceSeconds };
}
