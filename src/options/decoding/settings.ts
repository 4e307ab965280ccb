import { isJsonObject } from '../../base/json-object.ts';
import { configFields } from './config-fields.ts';

/** Fields of a KubeletConfiguration that are set: dotted path → value, as the field's kind has it (durations are milliseconds). */
export type Settings = ReadonlyMap<string, unknown>;

/** Texts that Kubernetes tells apart from none. */
export const setWhenEmpty: ReadonlySet<string> = new Set(['resolvConf', 'tracing.endpoint']);
/** Structs that may be there without a field of theirs. */
const optionalStructs = ['tracing', 'userNamespaces'] as const;

/** What a decoded file sets: nulls are not set, nor are zeros and empty texts where Kubernetes' types cannot tell them from nothing. */
export function settingsOf(data: unknown): Settings {
  const settings = new Map<string, unknown>();
  for (const { path, zeroIsUnset } of configFields.values()) {
    const value = valueAt(data, path.split('.'));
    if (value === undefined || value === null) continue;
    if (value === '' ? !setWhenEmpty.has(path) : zeroIsUnset && (value === 0 || value === '0s')) continue;
    settings.set(path, value);
  }
  for (const struct of optionalStructs) if (isJsonObject(valueAt(data, [struct]))) settings.set(struct, {});
  return settings;
}

export function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  let value = data;
  for (const step of path)
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
  return value;
}
