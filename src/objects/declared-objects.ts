import { type Observable, Subject } from 'rxjs';
import { ApiError } from '../model/api-error.ts';
import { type ObjectReferenceOfPod, referenceKey } from '../model/pod-references.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { ObjectStore, ReferencedObject } from '../ports/object-store.ts';
import { Registrations } from './registrations.ts';

/** The ConfigMaps and Secrets of the manifest directory, for static pods. What it declares is handed to it; it never waits. */
export class DeclaredObjects implements ObjectStore {
  readonly #objects = new Map<string, ManifestObject>();
  readonly #changes = new Subject<PodUid>();
  readonly #registrations = new Registrations({ used: () => {}, unused: () => {} });
  readonly changes: Observable<PodUid> = this.#changes.asObservable();

  /** Takes the complete set. `changes` emits the pods one of whose objects is another now. */
  declare(objects: readonly ManifestObject[]): void {
    const next = new Map(objects.map((object) => [keyOf(object), object]));
    const changed = [...new Set([...this.#objects.keys(), ...next.keys()])].filter((key) => this.#objects.get(key) !== next.get(key));
    const about = changed.flatMap((key) => this.#objects.get(key) ?? next.get(key) ?? []);
    this.#objects.clear();
    for (const [key, object] of next) this.#objects.set(key, object);
    const pods = new Set(about.flatMap((object) => this.#registrations.podsOf(referenceTo(object))));
    for (const uid of pods) this.#changes.next(uid);
  }

  async get(reference: ObjectReferenceOfPod): Promise<ReferencedObject> {
    const object = this.#objects.get(referenceKey(reference));
    if (object) return object;
    const { kind, namespace, name } = reference;
    const words = `${kind.toLowerCase()} "${name}" not found: a static pod can refer only to objects of the manifest directory, `;
    throw new ApiError(404, 'NotFound', `${words}and none there declares ${kind} ${namespace}/${name}`);
  }

  register(pod: Pod): void {
    this.#registrations.register(pod);
  }

  unregister(uid: PodUid): void {
    this.#registrations.unregister(uid);
  }
}

const referenceTo = ({ kind, metadata }: ManifestObject): ObjectReferenceOfPod => ({
  kind,
  namespace: metadata.namespace,
  name: metadata.name,
});
const keyOf = (object: ManifestObject): string => referenceKey(referenceTo(object));
