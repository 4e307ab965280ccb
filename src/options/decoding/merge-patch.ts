import { isJsonObject, type JsonObject } from '../../base/json-object.ts';

/** RFC 7386: maps are merged, null takes a field away, everything else takes the place of what was there. */
export function mergePatch(target: unknown, patch: JsonObject): JsonObject {
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isJsonObject(value) ? mergePatch(merged.get(name), value) : value);
  }
  return Object.fromEntries(merged);
}
