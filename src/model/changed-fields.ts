import { isDeepStrictEqual } from 'node:util';

/** The top-level fields in which two objects differ, sorted. Absent and null are the same. */
export function changedFields(before: object, after: object): readonly string[] {
  const old = new Map<string, unknown>(Object.entries(before));
  const now = new Map<string, unknown>(Object.entries(after));
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((field) => !isDeepStrictEqual(old.get(field) ?? undefined, now.get(field) ?? undefined))
    .sort();
}
