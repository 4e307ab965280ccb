import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../base/json-object.ts';
import { withoutCredentials } from '../base/without-credentials.ts';
import type { FieldDifference } from './planned-changes.ts';

/**
 * Values that may be passwords, or have one in them: an environment's, whose names may have brackets in them, headers' of probes, commands and
 * their arguments, and a whole manifest as kubectl keeps it. That they differ is all that is said. What looks like a password in other fields is
 * left out there.
 */
const hidden = /\.(?:env|httpHeaders)\[.*\]\.value$|\.(?:command|args)(?:\[\d+\])?$|last-applied-configuration\]?$/s;
const MOST_SHOWN = 200;

/** What is called a password among names that are free to choose. */
const calledSo = /\.(?:annotations|labels|volumeAttributes|options)(?:\.|\[)[^]*(?:pass|pwd|secret|token|key|credential)/i;
const isHidden = (path: string): boolean => hidden.test(path) || calledSo.test(path);

/** Where two versions of an object differ, in the order of the fields. Absent and null are the same. */
export function fieldDifferences(before: unknown, after: unknown, path = ''): readonly FieldDifference[] {
  if (isDeepStrictEqual(before ?? undefined, after ?? undefined)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    return keysOf(Object.keys(before), Object.keys(after)).flatMap((key) =>
      fieldDifferences(before[key], after[key], path === '' ? key : /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${key}]`),
    );
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const [old, now] = [membersOf(before), membersOf(after)];
    const members = keysOf([...old.keys()], [...now.keys()]).flatMap((key) =>
      fieldDifferences(old.get(key), now.get(key), `${path}[${key}]`),
    );
    // Only their order differs.
    return members.length > 0 ? members : [{ path }];
  }
  if (isHidden(path)) return [{ path }];
  return [{ path, ...shown('from', before, path), ...shown('to', after, path) }];
}

const keysOf = (before: readonly string[], after: readonly string[]): readonly string[] => [...new Set([...before, ...after])];

/** By name where each has one of its own, else by number. */
function membersOf(list: readonly unknown[]): ReadonlyMap<string, unknown> {
  const names = list.map((each) => (isJsonObject(each) && typeof each['name'] === 'string' ? each['name'] : undefined));
  const isNamed = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  return new Map(list.map((each, index) => [isNamed ? (names[index] ?? '') : String(index), each]));
}

function shown(side: 'from' | 'to', value: unknown, path: string): Partial<Record<'from' | 'to', string>> {
  if (value === undefined || value === null) return {};
  const text = JSON.stringify(withoutHidden(value, path));
  return { [side]: text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text };
}

/** A whole container that comes or goes has values that are not shown either. */
function withoutHidden(value: unknown, path: string): unknown {
  if (isHidden(path)) return '(not shown)';
  if (Array.isArray(value)) return value.map((each, index) => withoutHidden(each, `${path}[${index}]`));
  if (typeof value === 'string') return withoutCredentials(value);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutHidden(inner, `${path}.${key}`)]));
}
