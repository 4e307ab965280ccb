// What an API server makes of a patch, as far as agents send them.
import { isJsonObject, type JsonObject } from '../../src/base/json-object.ts';
import { listStrategy, type PatchedKind } from '../../src/model/strategic-merge-patch.ts';

type Fields = Record<string, unknown>;

/** JSON merge patch, RFC 7386. */
export function applyMergePatch(original: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: Fields = { ...(isJsonObject(original) ? original : {}) };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = applyMergePatch(result[field], value);
  }
  return result;
}

/** Strategic merge patch: keyed lists, sets of texts, and the directives $patch, $setElementOrder and $deleteFromPrimitiveList. */
export function applyStrategicMergePatch(original: JsonObject, patch: JsonObject, kind: PatchedKind | undefined): JsonObject {
  return applyFields(original, patch, '', kind);
}

function applyFields(original: JsonObject, patch: JsonObject, path: string, kind: PatchedKind | undefined): JsonObject {
  if (patch['$patch'] === 'replace') return withoutDirectives(patch);
  const result: Fields = { ...original };
  for (const [field, value] of Object.entries(patch)) {
    if (field.startsWith('$')) continue;
    const old = result[field];
    if (value === null) delete result[field];
    else if (isJsonObject(value)) result[field] = applyFields(isJsonObject(old) ? old : {}, value, `${path}${field}.`, kind);
    else if (Array.isArray(value)) result[field] = applyList(old, value, path + field, kind);
    else result[field] = value;
  }
  for (const [directive, values] of Object.entries(patch)) {
    const [name = '', field = ''] = directive.split('/');
    const list = result[field];
    if (!Array.isArray(list) || !Array.isArray(values)) continue;
    if (name === '$deleteFromPrimitiveList') result[field] = list.filter((item) => !values.includes(item));
  }
  for (const [directive, values] of Object.entries(patch)) {
    const [name = '', field = ''] = directive.split('/');
    const list = result[field];
    if (name === '$setElementOrder' && Array.isArray(list) && Array.isArray(values))
      result[field] = inOrder(list, values, path + field, kind);
  }
  return result;
}

function applyList(old: unknown, values: readonly unknown[], path: string, kind: PatchedKind | undefined): readonly unknown[] {
  const strategy = kind && listStrategy(kind, path);
  const before: readonly unknown[] = Array.isArray(old) ? old : [];
  const plain = values.filter((value) => !isJsonObject(value) || !('$patch' in value));
  if (strategy === undefined || values.some((value) => isJsonObject(value) && value['$patch'] === 'replace')) return plain;
  if (strategy === 'set') return [...before, ...plain.filter((value) => !before.includes(value))];
  const result = [...before];
  for (const value of values) {
    if (!isJsonObject(value)) throw new Error(`${path}: a list of objects is patched with ${String(value)}`);
    const at = result.findIndex((item) => isJsonObject(item) && item[strategy.key] === value[strategy.key]);
    const found = result[at];
    if (value['$patch'] === 'delete') {
      if (at >= 0) result.splice(at, 1);
    } else if (isJsonObject(found)) result[at] = applyFields(found, value, `${path}.`, kind);
    else result.push(value);
  }
  return result;
}

/** The named items in the order given, then those that the patch did not know of. */
function inOrder(list: readonly unknown[], order: readonly unknown[], path: string, kind: PatchedKind | undefined): readonly unknown[] {
  const strategy = kind && listStrategy(kind, path);
  const idOf = (item: unknown): unknown => (isJsonObject(item) && strategy && strategy !== 'set' ? item[strategy.key] : item);
  const ids = order.map(idOf);
  const rank = (item: unknown): number => (ids.includes(idOf(item)) ? ids.indexOf(idOf(item)) : ids.length);
  return list.toSorted((a, b) => rank(a) - rank(b));
}

const withoutDirectives = (patch: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(patch).filter(([field]) => !field.startsWith('$')));
