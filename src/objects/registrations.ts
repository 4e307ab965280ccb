import { type ObjectReferenceOfPod, podReferences, referenceKey } from '../model/pod-references.ts';
import type { Pod, PodUid } from '../model/pod.ts';

export interface ReferenceUse {
  /** The first pod refers to it, or one more: what is known may be too old for that pod. */
  used(reference: ObjectReferenceOfPod): void;
  /** No pod refers to it any more. */
  unused(reference: ObjectReferenceOfPod): void;
}

/** Which pods refer to which objects. */
export class Registrations {
  readonly #use: ReferenceUse;
  readonly #byPod = new Map<PodUid, { readonly pod: Pod; readonly references: ReadonlyMap<string, ObjectReferenceOfPod> }>();
  readonly #podsOf = new Map<string, Set<PodUid>>();

  constructor(use: ReferenceUse) {
    this.#use = use;
  }

  register(pod: Pod): void {
    const { uid } = pod.metadata;
    const before = this.#byPod.get(uid);
    if (before?.pod === pod) return;
    const references = new Map(podReferences(pod).map((reference) => [referenceKey(reference), reference]));
    this.#byPod.set(uid, { pod, references });
    // New ones first: what is still needed is never let go in between.
    for (const [key, reference] of references) {
      if (before?.references.has(key)) continue;
      const pods = this.#podsOf.get(key) ?? new Set<PodUid>();
      this.#podsOf.set(key, pods.add(uid));
      this.#use.used(reference);
    }
    for (const [key, reference] of before?.references ?? []) if (!references.has(key)) this.#release(uid, key, reference);
  }

  unregister(uid: PodUid): void {
    const references = this.#byPod.get(uid)?.references;
    this.#byPod.delete(uid);
    for (const [key, reference] of references ?? []) this.#release(uid, key, reference);
  }

  podsOf(reference: ObjectReferenceOfPod): readonly PodUid[] {
    return [...(this.#podsOf.get(referenceKey(reference)) ?? [])];
  }

  #release(uid: PodUid, key: string, reference: ObjectReferenceOfPod): void {
    const pods = this.#podsOf.get(key);
    pods?.delete(uid);
    if (pods?.size !== 0) return;
    this.#podsOf.delete(key);
    this.#use.unused(reference);
  }
}
