import { isJsonObject } from '../../base/json-object.ts';
import type { Logger } from '../../base/logger.ts';
import type { Allocation } from '../../model/pod-allocations.ts';
import type { PodSpec, PodUid } from '../../model/pod.ts';
import { Quantity } from '../../model/quantity.ts';
import type { StateFile, StateFiles } from '../../ports/state-files.ts';

type Requirements = NonNullable<PodSpec['resources']>;
type Amounts = NonNullable<Requirements['limits']>;

/** What of a pod's resources outlives the agent. */
export interface ResourceRecord {
  readonly allocation: Allocation;
  /** By container: what it was made with, or was changed to, last. */
  readonly actuated: ReadonlyMap<string, Requirements>;
}

/** The same as JSON has it. */
interface Saved {
  readonly allocation: { readonly pod?: Requirements; readonly containers: Readonly<Record<string, Requirements>> };
  readonly actuated: Readonly<Record<string, Requirements>>;
}

interface Entry {
  readonly file: StateFile<Saved>;
  saved: Promise<void>;
  isKept: boolean;
  /** What could not be written last. */
  unsaved: Saved | undefined;
}

/**
 * A file a pod, which goes with the pod's directory. What is lost or broken lets the pod count as given what it asks for, and its containers
 * as made with what the engine shows.
 */
export class ResourceRecords {
  readonly #filesOf: (uid: PodUid) => StateFiles;
  readonly #log: Logger;
  readonly #entries = new Map<PodUid, Entry | undefined>();

  constructor(filesOf: (uid: PodUid) => StateFiles, log: Logger) {
    this.#filesOf = filesOf;
    this.#log = log;
  }

  load(uid: PodUid): ResourceRecord | undefined {
    const entry = this.#of(uid);
    const saved = entry?.file.load();
    if (!entry || !saved) return undefined;
    entry.isKept = true;
    const { pod, containers } = saved.allocation;
    return { allocation: { pod, containers: new Map(Object.entries(containers)) }, actuated: new Map(Object.entries(saved.actuated)) };
  }

  /**
   * Does not wait: what a crash loses is seen in the engine, or done again. Of a pod that was never given anything nothing is written: it
   * cannot be resized, as its QoS class would change.
   */
  save(uid: PodUid, { allocation: { pod, containers }, actuated }: ResourceRecord): void {
    const entry = this.#of(uid);
    if (!entry) return;
    entry.isKept ||= [pod, ...containers.values(), ...actuated.values()].some(hasAmounts);
    if (!entry.isKept) return;
    const allocation = { ...(pod && { pod }), containers: Object.fromEntries(containers) };
    this.#write(uid, entry, { allocation, actuated: Object.fromEntries(actuated) });
  }

  /** Tries once more what could not be written: the disk may have room again. */
  retry(uid: PodUid): void {
    const entry = this.#entries.get(uid);
    if (entry?.unsaved) this.#write(uid, entry, entry.unsaved);
  }

  /** Resolves once nothing is written any more: the pod's directory may be removed. */
  async settled(uid: PodUid): Promise<void> {
    await this.#entries.get(uid)?.saved;
  }

  forget(uid: PodUid): void {
    this.#entries.delete(uid);
  }

  #write(uid: PodUid, entry: Entry, value: Saved): void {
    const isNews = entry.unsaved === undefined;
    const write = async (): Promise<void> => {
      try {
        await entry.file.save(value);
        entry.unsaved = undefined;
      } catch (error) {
        entry.unsaved = value;
        const message = 'resources of a pod not saved, which is tried again: an agent that starts before goes by older ones';
        if (isNews) this.#log.warn(message, { uid, error });
      }
    };
    entry.saved = write();
  }

  /** Undefined: the pod's uid cannot name a directory. */
  #of(uid: PodUid): Entry | undefined {
    if (!this.#entries.has(uid)) this.#entries.set(uid, this.#open(uid));
    return this.#entries.get(uid);
  }

  #open(uid: PodUid): Entry | undefined {
    try {
      return { file: this.#filesOf(uid).open('resources.json', decode), saved: Promise.resolve(), isKept: false, unsaved: undefined };
    } catch (error) {
      this.#log.v(2, 'resources of a pod are not kept', { uid, error });
      return undefined;
    }
  }
}

function decode(json: unknown): Saved | undefined {
  if (!isJsonObject(json) || !isJsonObject(json['allocation'])) return undefined;
  const { pod, containers } = json['allocation'];
  const { actuated } = json;
  if (pod !== undefined && !isRequirements(pod)) return undefined;
  if (!isEachRequirements(containers) || !isEachRequirements(actuated)) return undefined;
  return { allocation: { ...(pod && { pod }), containers }, actuated };
}

const hasAmounts = (given: Requirements | undefined): boolean =>
  Object.keys(given?.requests ?? {}).length + Object.keys(given?.limits ?? {}).length > 0;

const isEachRequirements = (json: unknown): json is Readonly<Record<string, Requirements>> =>
  isJsonObject(json) && Object.values(json).every(isRequirements);

const isRequirements = (json: unknown): json is Requirements =>
  isJsonObject(json) && [json['requests'], json['limits']].every((list) => list === undefined || isAmounts(list));

function isAmounts(json: unknown): json is Amounts {
  return isJsonObject(json) && Object.values(json).every(isQuantity);
}

function isQuantity(json: unknown): boolean {
  try {
    return json !== null && Quantity.fromJson(json) !== undefined;
  } catch {
    return false;
  }
}
