// What the API server calls a strategic merge patch: a JSON merge patch that knows which lists are sets, and by which key.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../base/json-object.ts';

/** The objects whose lists are known here. Of a pod, metadata and status; an agent patches no pod's spec. */
export type PatchedKind = 'Node' | 'Pod';

/** How a list is patched: by a key of its items, or as a set of texts. Other lists are replaced whole. */
type ListStrategy = { readonly key: string; readonly replaceWhenChanged?: boolean } | 'set';

const metadata: Readonly<Record<string, ListStrategy>> = {
  'metadata.ownerReferences': { key: 'uid' },
  'metadata.finalizers': 'set',
};

/** patchStrategy and patchMergeKey of k8s.io/api/core/v1/types.go. */
const strategies: Readonly<Record<PatchedKind, Readonly<Record<string, ListStrategy>>>> = {
  Node: {
    ...metadata,
    'spec.podCIDRs': 'set',
    'status.conditions': { key: 'type' },
    // Declared a set by type, though a node has several addresses of one type: changed, it is sent whole (pkg/util/node PatchNodeStatus).
    'status.addresses': { key: 'type', replaceWhenChanged: true },
  },
  Pod: {
    ...metadata,
    'status.conditions': { key: 'type' },
    'status.podIPs': { key: 'ip' },
    'status.hostIPs': { key: 'ip' },
    'status.resourceClaimStatuses': { key: 'name' },
  },
};

export function listStrategy(kind: PatchedKind, path: string): ListStrategy | undefined {
  return strategies[kind][path];
}

/**
 * The smallest patch that makes `after` out of `before` and leaves alone what others wrote meanwhile: {} when nothing differs. To be sent
 * as application/strategic-merge-patch+json. Undefined and absent are the same. The rules are strategicpatch.CreateTwoWayMergePatch's.
 */
export function createTwoWayMergePatch(before: object, after: object, kind: PatchedKind): JsonObject {
  return patchObject(fieldsOf(before), fieldsOf(after), '', kind);
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const fieldsOf = (value: object): JsonObject => Object.fromEntries(Object.entries(value));

function patchObject(before: JsonObject, after: JsonObject, path: string, kind: PatchedKind): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = before[field];
    const now = after[field];
    if (isDeepStrictEqual(old, now)) continue;
    if (now === undefined) patch[field] = null;
    else if (isJsonObject(old) && isJsonObject(now)) {
      const inner = patchObject(old, now, `${path}${field}.`, kind);
      if (Object.keys(inner).length > 0) patch[field] = inner;
    } else {
      const strategy = isList(old) && isList(now) && old.length > 0 ? listStrategy(kind, path + field) : undefined;
      if (strategy === undefined || !isList(old) || !isList(now)) patch[field] = now;
      else Object.assign(patch, strategy === 'set' ? patchSet(field, old, now) : patchKeyedList(field, old, now, strategy, path, kind));
    }
  }
  return patch;
}

function patchSet(field: string, before: readonly unknown[], after: readonly unknown[]): JsonObject {
  const added = after.filter((item) => !before.includes(item));
  const removed = before.filter((item) => !after.includes(item));
  return {
    ...(added.length > 0 && { [field]: added }),
    ...(removed.length > 0 && { [`$deleteFromPrimitiveList/${field}`]: removed }),
    ...(after.length > 0 && { [`$setElementOrder/${field}`]: after }),
  };
}

function patchKeyedList(
  field: string,
  before: readonly unknown[],
  after: readonly unknown[],
  { key, replaceWhenChanged }: Exclude<ListStrategy, 'set'>,
  path: string,
  kind: PatchedKind,
): JsonObject {
  const olds = byKey(before, key);
  const nows = byKey(after, key);
  // A key that is missing or stands twice tells no items apart.
  if (replaceWhenChanged || !olds || !nows) return { [field]: [...after, { $patch: 'replace' }] };

  const changed = [...nows].flatMap(([id, now]) => {
    const old = olds.get(id);
    if (!old) return [now];
    const inner = patchObject(old, now, `${path}${field}.`, kind);
    return Object.keys(inner).length > 0 ? [{ ...inner, [key]: id }] : [];
  });
  const removed = [...olds.keys()].filter((id) => !nows.has(id)).map((id) => ({ $patch: 'delete', [key]: id }));
  const items = [...changed, ...removed];
  return {
    ...(items.length > 0 && { [field]: items }),
    ...(after.length > 0 && { [`$setElementOrder/${field}`]: [...nows.keys()].map((id) => ({ [key]: id })) }),
  };
}

/** Undefined when an item is no object, has no key, or shares it with another. */
function byKey(items: readonly unknown[], key: string): ReadonlyMap<unknown, JsonObject> | undefined {
  const found = new Map<unknown, JsonObject>();
  for (const item of items) {
    if (!isJsonObject(item) || item[key] === undefined || found.has(item[key])) return undefined;
    found.set(item[key], item);
  }
  return found;
}
