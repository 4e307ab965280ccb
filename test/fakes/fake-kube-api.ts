import { Observable, Subject } from 'rxjs';
import { isJsonObject, type JsonObject } from '../../src/base/json-object.ts';
import { formatTime } from '../../src/model/time.ts';
import { ApiError } from '../../src/model/api-error.ts';
import type { ApiRequest, Informer, KubeApi, ResourceEvent, WatchedObject, WatchTarget } from '../../src/ports/kube-api.ts';
import { applyMergePatch, applyStrategicMergePatch } from './apply-patch.ts';

/** An object as stored: whole, with what the server fills in. */
export type StoredObject = JsonObject & { readonly kind: string; readonly metadata: WatchedObject['metadata'] & JsonObject };

export interface SentRequest extends ApiRequest {
  /** The door that it came through. */
  readonly door: string;
}

/** Sees a request before the store does: throw to refuse it, wait to delay it, return a value to answer it; undefined lets it through. */
export type Intercept = (request: SentRequest, signal: AbortSignal) => unknown;

interface Target {
  /** "/api/v1/namespaces/default/pods" */
  readonly collection: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const kinds: Readonly<Record<string, string>> = {
  nodes: 'Node',
  pods: 'Pod',
  leases: 'Lease',
  events: 'Event',
  services: 'Service',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  certificatesigningrequests: 'CertificateSigningRequest',
  runtimeclasses: 'RuntimeClass',
  csinodes: 'CSINode',
  csidrivers: 'CSIDriver',
  volumeattachments: 'VolumeAttachment',
  persistentvolumes: 'PersistentVolume',
  persistentvolumeclaims: 'PersistentVolumeClaim',
};

export const refusals = {
  notFound: (what = 'object') => new ApiError(404, 'NotFound', `${what} not found`),
  conflict: (why = 'the object has been modified; please apply your changes to the latest version and try again') =>
    new ApiError(409, 'Conflict', `Operation cannot be fulfilled: ${why}`),
  alreadyExists: (what = 'object') => new ApiError(409, 'AlreadyExists', `${what} already exists`),
  forbidden: (why = 'not allowed') => new ApiError(403, 'Forbidden', `forbidden: ${why}`),
  internal: () => new ApiError(500, 'InternalError', 'Internal error occurred'),
};

/**
 * An API server in memory, good enough for an agent: GET, POST, PUT, PATCH and DELETE with status subresources, resource versions,
 * preconditions, grace periods and finalizers; refusals on order; informers that tell every change. Several doors may share one store.
 */
export class FakeKubeApi implements KubeApi {
  readonly requests: SentRequest[] = [];
  readonly #store = new Map<string, StoredObject>();
  readonly #changes = new Subject<{ readonly kind: 'put' | 'drop'; readonly item: StoredObject }>();
  readonly #intercepts: Intercept[] = [];
  readonly #now: () => number;
  readonly #closed: string[] = [];
  #version = 1000;
  #uids = 0;

  constructor(options: { readonly now?: () => number } = {}) {
    this.#now = options.now ?? (() => Date.UTC(2021, 1, 3, 4, 5, 6));
  }

  /** Another client of the same server. */
  door(name: string): KubeApi {
    return {
      request: (request, signal) => this.#serve({ ...request, door: name }, signal),
      closeConnections: () => this.#closed.push(name),
    };
  }

  request<T>(request: ApiRequest, signal: AbortSignal): Promise<T> {
    return this.#serve({ ...request, door: 'main' }, signal);
  }

  closeConnections(): void {
    this.#closed.push('main');
  }

  /** How often connections were closed, by one door or by all. */
  closed(door?: string): number {
    return this.#closed.filter((name) => door === undefined || name === door).length;
  }

  /** Asked before the store, until the returned function is called; the latest comes first. */
  intercept(intercept: Intercept): () => void {
    this.#intercepts.unshift(intercept);
    return () => {
      const at = this.#intercepts.indexOf(intercept);
      if (at >= 0) this.#intercepts.splice(at, 1);
    };
  }

  /** Refuses the next `times` requests of a method whose path ends so. */
  refuse(method: ApiRequest['method'], pathEnd: string, error: Error, times = 1): void {
    let left = times;
    const remove = this.intercept((request) => {
      if (request.method !== method || !request.path.endsWith(pathEnd)) return;
      if (--left <= 0) remove();
      throw error;
    });
  }

  /** "PATCH /api/v1/nodes/n1/status", in the order they came. */
  calls(door?: string): readonly string[] {
    return this.requests.filter((request) => door === undefined || request.door === door).map(({ method, path }) => `${method} ${path}`);
  }

  /** Someone else's write: as if by a PUT without conditions, or a POST. Returns what is stored. */
  put(path: string, object: object): StoredObject {
    const target = parse(path);
    const key = keyOf(target);
    return this.#write(key, this.#filled(target, asObject(object), this.#store.get(key)));
  }

  /** What is stored under a path. */
  stored(path: string): StoredObject | undefined {
    return this.#store.get(path);
  }

  /** As if by a forced DELETE. */
  remove(path: string): void {
    const item = this.#store.get(path);
    if (!item) return;
    this.#store.delete(path);
    this.#changes.next({ kind: 'drop', item });
  }

  readonly informer: Informer = <T extends WatchedObject>(target: WatchTarget): Observable<ResourceEvent<T>> =>
    new Observable<ResourceEvent<T>>((subscriber) => {
      const matches = (item: StoredObject): boolean => this.#matches(item, target);
      // The store knows no types: whoever watches pods is told pods.
      const typed = (item: StoredObject): T => structuredClone<unknown>(item) as T;
      subscriber.next({ kind: 'reset', items: this.#list(target).map(typed) });
      const told = new Set(this.#list(target).map(({ metadata }) => metadata.uid));
      const subscription = this.#changes.subscribe(({ kind, item }) => {
        const known = told.has(item.metadata.uid);
        if (kind === 'put' && matches(item)) {
          told.add(item.metadata.uid);
          subscriber.next({ kind: 'put', item: typed(item) });
        } else if (known) {
          told.delete(item.metadata.uid);
          subscriber.next({ kind: 'drop', item: typed(item) });
        }
      });
      return subscription;
    });

  async #serve<T>(sent: SentRequest, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    // Sent as JSON: what is undefined is not there.
    const request: SentRequest = sent.body === undefined ? sent : { ...sent, body: JSON.parse(JSON.stringify(sent.body)) };
    this.requests.push(request);
    await Promise.resolve();
    for (const intercept of this.#intercepts.slice()) {
      const answer = await intercept(request, signal);
      if (answer !== undefined) return answer as T;
    }
    signal.throwIfAborted();
    return structuredClone<unknown>(this.#answer(request)) as T;
  }

  #answer(request: SentRequest): JsonObject {
    const target = parse(request.path);
    const body = isJsonObject(request.body) ? request.body : {};
    if (target.name === undefined) return this.#onCollection(request, target, body);
    const key = keyOf(target);
    const existing = this.#store.get(key);
    if (!existing) throw refusals.notFound(`${target.resource} "${target.name}"`);
    switch (request.method) {
      case 'GET':
        return existing;
      case 'PUT':
        checkVersion(existing, body);
        return this.#write(key, this.#filled(target, subresourceOf(target, existing, body), existing));
      case 'PATCH':
        return this.#patch(request, target, existing, body);
      case 'DELETE':
        return this.#delete(key, existing, body);
      case 'POST':
      default:
        throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    }
  }

  #onCollection(request: SentRequest, target: Target, body: JsonObject): JsonObject {
    if (request.method === 'GET') {
      const items = this.#list({ path: request.path, fieldSelector: String(request.query?.['fieldSelector'] ?? '') });
      return { kind: `${kinds[target.resource]}List`, metadata: { resourceVersion: String(this.#version) }, items };
    }
    if (request.method !== 'POST') throw new ApiError(405, 'MethodNotAllowed', 'not on a collection');
    const metadata = metadataOf(body);
    const name = text(metadata['name']) || `${text(metadata['generateName'])}${++this.#uids}`;
    const named = { ...target, name };
    const key = keyOf(named);
    if (this.#store.has(key)) throw refusals.alreadyExists(`${target.resource} "${name}"`);
    // Identity is the server's to give, whatever is asked for.
    const { uid: _uid, ...given } = metadata;
    return this.#write(key, this.#filled(named, { ...body, metadata: given }, undefined));
  }

  #patch(request: SentRequest, target: Target, existing: StoredObject, patch: JsonObject): StoredObject {
    const { uid } = metadataOf(patch);
    if (uid !== undefined && uid !== existing.metadata.uid)
      throw refusals.conflict(`the UID in the precondition (${text(uid)}) does not match`);
    checkVersion(existing, patch);
    let patched: unknown;
    if (request.contentType === 'application/strategic-merge-patch+json') {
      const kind = existing.kind === 'Node' || existing.kind === 'Pod' ? existing.kind : undefined;
      patched = applyStrategicMergePatch(existing, patch, kind);
    } else if (request.contentType === 'application/merge-patch+json') patched = applyMergePatch(existing, patch);
    else throw new ApiError(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${request.contentType}`);
    return this.#write(keyOf(target), this.#filled(target, subresourceOf(target, existing, asObject(patched)), existing));
  }

  #delete(key: string, existing: StoredObject, options: JsonObject): StoredObject {
    const conditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {};
    if (conditions['uid'] !== undefined && conditions['uid'] !== existing.metadata.uid)
      throw refusals.conflict(
        `Precondition failed: UID in precondition: ${text(conditions['uid'])}, UID in object meta: ${existing.metadata.uid}`,
      );
    if (conditions['resourceVersion'] !== undefined && conditions['resourceVersion'] !== existing.metadata.resourceVersion)
      throw refusals.conflict();
    const spec = isJsonObject(existing['spec']) ? existing['spec'] : {};
    const scheduled = existing.kind === 'Pod' && spec['nodeName'] !== undefined;
    const graceSeconds = scheduled ? Number(options['gracePeriodSeconds'] ?? spec['terminationGracePeriodSeconds'] ?? 30) : 0;
    const finalizers = existing.metadata['finalizers'];
    const held = Array.isArray(finalizers) && finalizers.length > 0;
    if (graceSeconds === 0 && !held) {
      this.remove(key);
      return existing;
    }
    const deletionTimestamp = formatTime(this.#now() + graceSeconds * 1000);
    return this.#write(key, {
      ...existing,
      metadata: { ...existing.metadata, deletionTimestamp, ...(scheduled && { deletionGracePeriodSeconds: graceSeconds }) },
    });
  }

  /** With what only the server writes. */
  #filled(target: Target, object: JsonObject, existing: StoredObject | undefined): StoredObject {
    const given = metadataOf(object);
    return {
      ...object,
      kind: kinds[target.resource] ?? String(object['kind']),
      apiVersion: target.collection.startsWith('/api/v1') ? 'v1' : target.collection.split('/').slice(2, 4).join('/'),
      metadata: {
        ...given,
        name: target.name ?? String(given['name']),
        ...(target.namespace !== undefined && { namespace: target.namespace }),
        uid: existing?.metadata.uid ?? (typeof given['uid'] === 'string' ? given['uid'] : `uid-${++this.#uids}`),
        creationTimestamp: existing?.metadata['creationTimestamp'] ?? given['creationTimestamp'] ?? formatTime(this.#now()),
        resourceVersion: existing?.metadata.resourceVersion ?? '',
      },
    };
  }

  #write(key: string, object: StoredObject): StoredObject {
    const existing = this.#store.get(key);
    // As etcd has it: a write that changes nothing is none.
    if (existing && JSON.stringify(sorted(existing)) === JSON.stringify(sorted(object))) return existing;
    const item: StoredObject = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = item.metadata;
    const freed = existing?.metadata['finalizers'] !== undefined && (!Array.isArray(finalizers) || finalizers.length === 0);
    if (deletionTimestamp !== undefined && freed && !deletionGracePeriodSeconds) {
      this.remove(key);
      return item;
    }
    this.#store.set(key, item);
    this.#changes.next({ kind: 'put', item });
    return item;
  }

  #list(target: WatchTarget): readonly StoredObject[] {
    return [...this.#store.values()].filter((item) => this.#matches(item, target));
  }

  #matches(item: StoredObject, { path, fieldSelector = '' }: WatchTarget): boolean {
    const { resource, namespace } = parse(path);
    if (item.kind !== kinds[resource] || (namespace !== undefined && item.metadata.namespace !== namespace)) return false;
    return fieldSelector
      .split(',')
      .filter(Boolean)
      .every((term) => {
        const [field = '', value = ''] = term.split('=');
        return text(field.split('.').reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), item)) === value;
      });
  }
}

/** A text as it is; nothing, and what is no text, is none. */
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const keyOf = ({ collection, name }: Target): string => `${collection}/${name}`;

function parse(path: string): Target {
  const [, head = '', resource = '', name, subresource] =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/((?:namespaces\/[^/]+\/)?[^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
  const [, namespace, plain = resource] = /^namespaces\/([^/]+)\/(.+)$/.exec(resource) ?? [];
  if (kinds[plain] === undefined) throw new ApiError(404, 'NotFound', `the server could not find the requested resource ${path}`);
  return { collection: `${head}/${resource}`, resource: plain, namespace, name, subresource };
}

const asObject = (value: unknown): JsonObject => {
  if (!isJsonObject(value)) throw new ApiError(400, 'BadRequest', 'not an object');
  return value;
};

const metadataOf = (object: JsonObject): JsonObject => (isJsonObject(object['metadata']) ? object['metadata'] : {});

function checkVersion(existing: StoredObject, given: JsonObject): void {
  const { resourceVersion } = metadataOf(given);
  if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== existing.metadata.resourceVersion)
    throw refusals.conflict();
}

/** Status goes through its own door, and nothing else does; a node's labels and annotations may come along. */
function subresourceOf(target: Target, existing: StoredObject, given: JsonObject): JsonObject {
  if (target.subresource === 'status') {
    const metadata = target.resource === 'nodes' ? { ...existing.metadata, ...metadataOf(given) } : existing.metadata;
    return { ...existing, metadata, status: given['status'] };
  }
  const hasStatus = ['Node', 'Pod', 'CertificateSigningRequest'].includes(existing.kind);
  return hasStatus ? { ...given, status: existing['status'] } : given;
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([field, inner]) => [field, sorted(inner)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
};
