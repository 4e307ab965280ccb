import { NEVER } from 'rxjs';
import { aborted } from '../base/aborted.ts';
import type { Clock } from '../base/clock.ts';
import type { Service } from '../base/service.ts';
import { isNotFound } from '../model/api-error.ts';
import { type ObjectReferenceOfPod, referenceKey } from '../model/pod-references.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { ObjectStore, ReferencedObject } from '../ports/object-store.ts';
import { objectPath } from './object-path.ts';
import { Registrations } from './registrations.ts';

export interface CachedObjectsDeps {
  readonly api: Pick<KubeApi, 'request'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How long what was read is good; 0: it is read each time. Milliseconds. */
  readonly ttlMs: number;
}

interface Cached {
  readonly answer: { readonly object: ReferencedObject } | { readonly error: unknown } | undefined;
  /** Undefined: to be read before it is used. */
  readonly readAtMs: number | undefined;
}

/** Reads objects when they are asked for, again after a time (pkg/kubelet/util/manager NewCacheBasedManager and the simple managers). */
export class CachedObjects implements ObjectStore, Service {
  readonly name = 'objects';
  readonly #deps: CachedObjectsDeps;
  readonly #cache = new Map<string, Cached>();
  readonly #registrations = new Registrations({
    // A pod may rely on an object that was made just before it.
    used: (reference) => {
      const key = referenceKey(reference);
      this.#cache.set(key, { answer: this.#cache.get(key)?.answer, readAtMs: undefined });
    },
    unused: (reference) => this.#cache.delete(referenceKey(reference)),
  });
  readonly changes = NEVER;

  constructor(deps: CachedObjectsDeps) {
    this.#deps = deps;
  }

  run(signal: AbortSignal): Promise<void> {
    return aborted(signal);
  }

  register(pod: Pod): void {
    this.#registrations.register(pod);
  }

  unregister(uid: PodUid): void {
    this.#registrations.unregister(uid);
  }

  async get(reference: ObjectReferenceOfPod, signal: AbortSignal): Promise<ReferencedObject> {
    const { api, clock, ttlMs } = this.#deps;
    const key = referenceKey(reference);
    const cached = this.#cache.get(key);
    const fresh = cached?.readAtMs !== undefined && clock.monotonicMs() - cached.readAtMs < ttlMs;
    if (fresh && cached.answer !== undefined) return unwrap(cached.answer);
    let answer: NonNullable<Cached['answer']>;
    try {
      answer = { object: await api.request<ReferencedObject>({ method: 'GET', path: objectPath(reference) }, signal) };
    } catch (error) {
      signal.throwIfAborted();
      // What was read before is better than nothing while the server cannot be asked.
      if (!isNotFound(error)) return unwrap((ttlMs > 0 ? cached?.answer : undefined) ?? { error });
      answer = { error };
    }
    if (this.#cache.has(key)) this.#cache.set(key, { answer, readAtMs: clock.monotonicMs() });
    return unwrap(answer);
  }
}

function unwrap(answer: NonNullable<Cached['answer']>): ReferencedObject {
  if ('error' in answer) throw answer.error;
  return answer.object;
}
