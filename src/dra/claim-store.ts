import type { PodUid } from '../model/pod.ts';
import type { StateFile } from '../ports/state-files.ts';
import type { PreparedDevice } from './prepared-device.ts';
import { type ClaimCheckpoint, claimCheckpoint, type ClaimEntry, claimsIn } from './claim-checkpoint.ts';

/** The claims that drivers have prepared on this node, or may have, and for which pods: in memory, and on disk for the next agent. */
export class ClaimStore {
  readonly #file: Pick<StateFile<ClaimCheckpoint>, 'save'>;
  readonly #entries: Map<string, ClaimEntry>;
  /** What has changed is not on the disk yet. */
  #unsaved = false;

  constructor(file: StateFile<ClaimCheckpoint>) {
    this.#file = file;
    const saved = file.load();
    const entries = saved === undefined ? [] : (claimsIn(saved) ?? []);
    this.#entries = new Map(entries.map((entry) => [keyOf(entry.namespace, entry.name), entry]));
  }

  get(namespace: string, name: string): ClaimEntry | undefined {
    return this.#entries.get(keyOf(namespace, name));
  }

  all(): readonly ClaimEntry[] {
    return [...this.#entries.values()];
  }

  ofPod(uid: PodUid): readonly ClaimEntry[] {
    return [...this.#entries.values()].filter(({ podUids }) => podUids.has(uid));
  }

  /** Those that have claims. */
  podUids(): ReadonlySet<PodUid> {
    return new Set([...this.#entries.values()].flatMap(({ podUids }) => [...podUids]));
  }

  /** Those that have one of a driver's devices. */
  podsWith(driver: string, isOne: (device: PreparedDevice) => boolean): ReadonlySet<PodUid> {
    const entries = [...this.#entries.values()].filter(({ drivers }) => drivers.get(driver)?.devices.some(isOne));
    return new Set(entries.flatMap(({ podUids }) => [...podUids]));
  }

  add(entry: ClaimEntry): ClaimEntry {
    this.#entries.set(keyOf(entry.namespace, entry.name), entry);
    return entry;
  }

  delete({ namespace, name }: ClaimEntry): void {
    this.#entries.delete(keyOf(namespace, name));
  }

  /** After each change, before anything builds on it. Rejects where it cannot be written: then `retry` does. */
  async save(): Promise<void> {
    this.#unsaved = true;
    await this.#file.save(claimCheckpoint(this.#entries.values()));
    this.#unsaved = false;
  }

  async retry(): Promise<void> {
    if (this.#unsaved) await this.save();
  }
}

export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;
