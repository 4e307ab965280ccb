import { Subject } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { drainInto } from '../base/drain-into.ts';
import { LatestValue } from '../base/latest-value.ts';
import type { Service } from '../base/service.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { ApiError } from '../model/api-error.ts';
import { type ObjectReferenceOfPod, referenceKey } from '../model/pod-references.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { Informer, ResourceEvent } from '../ports/kube-api.ts';
import type { ObjectStore, ReferencedObject } from '../ports/object-store.ts';
import { collectionPath } from './object-path.ts';
import { Registrations } from './registrations.ts';

export interface WatchedObjectsDeps {
  readonly informer: Informer;
  readonly clock: Clock;
}

interface Watched {
  /** The object as it is now; unknown before the first list. */
  readonly latest: LatestValue<ReferencedObject | undefined>;
  /** Ends the watch; what is known stays. */
  readonly stop: AbortController;
}

/**
 * How long a pod waits for the first list before it goes without; the list wakes it. Longer than the kubelet's second,
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
  readonly #failed = Promise.withResolvers<never>();

  constructor(deps: WatchedObjectsDeps) {
    this.#deps = deps;
  }

  /** Ends every watch at the end. Rejects where one fails, which informers do not. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await unlessAborted(this.#failed.promise, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const { stop } of this.#watched.values()) stop.abort();
      this.#watched.clear();
    }
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
    const late = (): Error => new Error(`failed to sync ${noun} cache: timed out waiting for the condition`);
    using within = deadline(this.#deps.clock, SYNC_MS, late, signal);
    const object = await watched.latest.wait(within.signal);
    if (object === undefined) throw new ApiError(404, 'NotFound', `${noun} "${name}" not found`);
    return object;
  }

  #watch(reference: ObjectReferenceOfPod): void {
    const key = referenceKey(reference);
    if (this.#watched.has(key)) return;
    const { latest, stop }: Watched = { latest: new LatestValue(), stop: new AbortController() };
    this.#watched.set(key, { latest, stop });
    let shown: string | undefined;
    const take = (event: ResourceEvent<ReferencedObject>): void => {
      const object = event.kind === 'reset' ? event.items[0] : event.kind === 'put' ? event.item : undefined;
      const version = object === undefined ? 'none' : `${object.metadata.uid} ${object.metadata.resourceVersion}`;
      if (version === shown) return;
      shown = version;
      latest.set(object);
      for (const uid of this.#registrations.podsOf(reference)) this.#changes.next(uid);
      // Not before the watch has been set up, within which the first list may come.
      if (object?.immutable) queueMicrotask(() => stop.abort());
    };
    const target = { path: collectionPath(reference), fieldSelector: `metadata.name=${reference.name}` };
    drainInto(this.#deps.informer<ReferencedObject>(target), take, stop.signal).catch(this.#failed.reject);
  }

  #unwatch(reference: ObjectReferenceOfPod): void {
    const key = referenceKey(reference);
    this.#watched.get(key)?.stop.abort();
    this.#watched.delete(key);
  }
}
