import { map, race, ReplaySubject, Subject, type Subscription, timer } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { aborted } from '../base/aborted.ts';
import { firstOf } from '../base/first-of.ts';
import type { Service } from '../base/service.ts';
import { ApiError } from '../model/api-error.ts';
import { type ObjectReferenceOfPod, referenceKey } from '../model/pod-references.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { Informer } from '../ports/kube-api.ts';
import type { ObjectStore, ReferencedObject } from '../ports/object-store.ts';
import { collectionPath } from './object-path.ts';
import { Registrations } from './registrations.ts';

export interface WatchedObjectsDeps {
  readonly informer: Informer;
  readonly clock: Clock;
}

interface Watched {
  /** The object as it is now; says nothing before the first list. */
  readonly latest: ReplaySubject<ReferencedObject | undefined>;
  subscription: Subscription | undefined;
}

/**
 * How long a pod waits for the first list before it is told that there is none yet; the list wakes it. Longer than the kubelet's second,
 * which a node's first permission to read a new object may take.
 */
const SYNC_MS = 5_000;

/** One watch for each object that a pod refers to, and none for others (pkg/kubelet/util/manager NewWatchBasedManager). */
export class WatchedObjects implements ObjectStore, Service {
  readonly name = 'objects';
  readonly #deps: WatchedObjectsDeps;
  readonly #watched = new Map<string, Watched>();
  readonly #changes = new Subject<PodUid>();
  readonly #registrations = new Registrations({
    used: (reference) => this.#watch(reference),
    unused: (reference) => this.#unwatch(reference),
  });
  readonly changes = this.#changes.asObservable();

  constructor(deps: WatchedObjectsDeps) {
    this.#deps = deps;
  }

  /** Ends every watch at the end. */
  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    for (const { subscription } of this.#watched.values()) subscription?.unsubscribe();
    this.#watched.clear();
  }

  register(pod: Pod): void {
    this.#registrations.register(pod);
  }

  unregister(uid: PodUid): void {
    this.#registrations.unregister(uid);
  }

  async get(reference: ObjectReferenceOfPod, signal: AbortSignal): Promise<ReferencedObject> {
    const { kind, namespace, name } = reference;
    const watched = this.#watched.get(referenceKey(reference));
    const noun = kind.toLowerCase();
    if (watched === undefined) throw new Error(`object "${namespace}"/"${name}" not registered`);
    const late = timer(SYNC_MS, this.#deps.clock).pipe(map(() => 'late' as const));
    const object = await firstOf(race(watched.latest, late), signal);
    if (object === 'late') throw new Error(`failed to sync ${noun} cache: timed out waiting for the condition`);
    if (object === undefined) throw new ApiError(404, 'NotFound', `${noun} "${name}" not found`);
    return object;
  }

  #watch(reference: ObjectReferenceOfPod): void {
    const key = referenceKey(reference);
    if (this.#watched.has(key)) return;
    const watched: Watched = { latest: new ReplaySubject(1), subscription: undefined };
    this.#watched.set(key, watched);
    let told: string | undefined;
    const target = { path: collectionPath(reference), fieldSelector: `metadata.name=${reference.name}` };
    watched.subscription = this.#deps.informer<ReferencedObject>(target).subscribe((event) => {
      const object = event.kind === 'reset' ? event.items[0] : event.kind === 'put' ? event.item : undefined;
      const version = object === undefined ? 'none' : `${object.metadata.uid} ${object.metadata.resourceVersion}`;
      if (version === told) return;
      told = version;
      watched.latest.next(object);
      for (const uid of this.#registrations.podsOf(reference)) this.#changes.next(uid);
      if (object?.immutable) queueMicrotask(() => watched.subscription?.unsubscribe());
    });
  }

  #unwatch(reference: ObjectReferenceOfPod): void {
    const key = referenceKey(reference);
    this.#watched.get(key)?.subscription?.unsubscribe();
    this.#watched.delete(key);
  }
}
