import type { PodUid } from '../model/pod.ts';
import { type IdRange, type IdSlots } from '../model/user-namespace.ts';

/** Which pods have which ids: none has two owners. */
export class IdRanges {
  readonly #slots: IdSlots;
  readonly #idsPerPod: number;
  readonly #owners = new Map<PodUid, number>();
  readonly #taken = new Set<number>();

  constructor(slots: IdSlots, idsPerPod: number) {
    this.#slots = slots;
    this.#idsPerPod = idsPerPod;
  }

  /** The pod's, or the first that is free. Throws where none is. */
  of(uid: PodUid): IdRange {
    const slot = this.#owners.get(uid) ?? this.#firstFree();
    this.#own(uid, slot);
    return { first: (this.#slots.offset + slot) * this.#idsPerPod, length: this.#idsPerPod };
  }

  /** The pod has these already. Throws where they cannot be given to a pod (pkg/kubelet/userns record). */
  record(uid: PodUid, { first, length }: IdRange): void {
    if (length !== this.#idsPerPod) throw new Error(`wrong user namespace length ${length}`);
    if (first % length !== 0) throw new Error(`wrong user namespace offset specified ${first}`);
    const slot = first / length - this.#slots.offset;
    if (slot < 0 || slot >= this.#slots.slots) throw new Error(`id ${first} is out of range`);
    if (this.#taken.has(slot) && this.#owners.get(uid) !== slot)
      throw new Error(`ID range picked for user namespace already taken: ${first}`);
    this.release(uid);
    this.#own(uid, slot);
  }

  release(uid: PodUid): void {
    const slot = this.#owners.get(uid);
    if (slot === undefined) return;
    this.#owners.delete(uid);
    this.#taken.delete(slot);
  }

  #own(uid: PodUid, slot: number): void {
    this.#owners.set(uid, slot);
    this.#taken.add(slot);
  }

  #firstFree(): number {
    for (let slot = 0; slot < this.#slots.slots; slot++) if (!this.#taken.has(slot)) return slot;
    throw new Error('could not find an empty slot to allocate a user namespace');
  }
}
