import { Subject } from 'rxjs';
import type { Logger } from '../../base/logger.ts';
import { OngoingFaults } from '../../base/ongoing-faults.ts';
import { allPodFields, type PodFieldGates, withoutGatedFields } from '../../model/pod-field-gates.ts';
import { type Pod, type PodFullName, podFullName, type PodUid } from '../../model/pod.ts';
import type { ApiPods, ApiPodsChange } from '../../ports/api-pods.ts';
import type { ResourceEvent, WatchedObject } from '../../ports/kube-api.ts';
import { readApiPod } from './read-api-pod.ts';

/**
 * The API server's pods by name, from an informer's word and the server's answers to our own writes.
 *
 * INVARIANTS
 * - One object a name: another uid under the same name is another pod.
 * - An object never goes back to an older resourceVersion of the same uid, wherever it comes from.
 * - An object that did not change keeps its identity.
 */
export class ApiPodCache implements ApiPods {
  readonly #log: Logger;
  readonly #fields: PodFieldGates;
  readonly #changes = new Subject<ApiPodsChange>();
  #byName = new Map<PodFullName, Pod>();
  #byUid = new Map<PodUid, Pod>();
  /** The newest resourceVersion that the informer has emitted: what is not newer has come from it already. */
  #informedVersion = 0;
  #synced = false;
  /** Uids whose faults have been logged. */
  readonly #faults = new OngoingFaults<string>();

  /** Fields that a gate takes away are not in its pods. */
  constructor(log: Logger, fields: PodFieldGates = allPodFields) {
    this.#log = log;
    this.#fields = fields;
  }

  readonly changes = this.#changes.asObservable();

  get synced(): boolean {
    return this.#synced;
  }

  byUid(uid: PodUid): Pod | undefined {
    return this.#byUid.get(uid);
  }

  byName(name: PodFullName): Pod | undefined {
    return this.#byName.get(name);
  }

  list(): readonly Pod[] {
    return [...this.#byName.values()];
  }

  apply(event: ResourceEvent<WatchedObject>): void {
    switch (event.kind) {
      case 'reset':
        this.#reset(event.items);
        return;
      case 'put': {
        this.#noteVersion(event.item);
        const pod = this.#read(event.item);
        if (pod && this.#put(pod)) this.#emit([podFullName(pod)]);
        return;
      }
      case 'drop': {
        this.#noteVersion(event.item);
        this.#faults.over(event.item.metadata.uid);
        const known = this.#byUid.get(event.item.metadata.uid as PodUid);
        if (!known) return;
        this.#drop(known);
        this.#emit([podFullName(known)]);
        return;
      }
      default:
        event satisfies never;
    }
  }

  learn(answer: unknown): void {
    const pod = this.#parse(answer);
    if (typeof pod === 'string') return;
    const known = this.#byUid.get(pod.metadata.uid);
    // Without comparable versions only an object that is still known may be replaced.
    const overtaken = Number.isNaN(versionOf(pod)) ? known === undefined : versionOf(pod) <= this.#informedVersion;
    if (!overtaken && this.#put(pod)) this.#emit([podFullName(pod)]);
  }

  #reset(items: readonly WatchedObject[]): void {
    const before = this.#byName;
    const knownByUid = this.#byUid;
    this.#byName = new Map();
    this.#byUid = new Map();
    const uids = new Set(items.map(({ metadata }) => metadata.uid));
    this.#faults.retain((uid) => uids.has(uid));
    for (const item of items) {
      this.#noteVersion(item);
      const known = knownByUid.get(item.metadata.uid as PodUid);
      const pod = known && !isNewer(item, known) ? known : (this.#read(item) ?? known);
      if (pod) this.#put(pod);
    }
    this.#synced = true;
    this.#changes.next({ names: [...new Set([...before.keys(), ...this.#byName.keys()])], relisted: true });
  }

  /** False when it is nothing new. */
  #put(pod: Pod): boolean {
    const known = this.#byName.get(podFullName(pod));
    if (known && known.metadata.uid === pod.metadata.uid && !isNewer(pod, known)) return false;
    if (known) this.#byUid.delete(known.metadata.uid);
    this.#byName.set(podFullName(pod), pod);
    this.#byUid.set(pod.metadata.uid, pod);
    return true;
  }

  #drop(pod: Pod): void {
    this.#byUid.delete(pod.metadata.uid);
    if (this.#byName.get(podFullName(pod)) === pod) this.#byName.delete(podFullName(pod));
  }

  #read(item: WatchedObject): Pod | undefined {
    const pod = this.#parse(item);
    const { uid, name, namespace } = item.metadata;
    if (typeof pod !== 'string') {
      this.#faults.over(uid);
      return pod;
    }
    const keeps = this.#byUid.has(uid as PodUid) ? 'what it was' : 'no pod';
    if (this.#faults.fault(uid)) this.#log.error('API pod refused', { pod: `${namespace}/${name}`, uid, fault: pod, keeps });
    return undefined;
  }

  #parse(object: unknown): Pod | string {
    const pod = readApiPod(object);
    return typeof pod === 'string' ? pod : withoutGatedFields(pod, this.#fields);
  }

  #noteVersion(item: WatchedObject): void {
    const version = versionOf(item);
    if (version > this.#informedVersion) this.#informedVersion = version;
  }

  #emit(names: readonly PodFullName[]): void {
    this.#changes.next({ names, relisted: false });
  }
}

interface Versioned {
  readonly metadata: { readonly resourceVersion?: string };
}

/** NaN where the server's versions are no numbers. */
function versionOf({ metadata }: Versioned): number {
  return Number(metadata.resourceVersion ?? Number.NaN);
}

/** Without comparable versions, whatever differs is newer. */
function isNewer(item: Versioned, known: Versioned): boolean {
  const [a, b] = [versionOf(item), versionOf(known)];
  return Number.isNaN(a) || Number.isNaN(b) ? item.metadata.resourceVersion !== known.metadata.resourceVersion : a > b;
}
