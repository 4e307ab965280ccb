import { errorText } from './error-text.ts';
import type { LogFields } from './logger.ts';
import { looksSecret } from './looks-secret.ts';
import { mayHaveCredentials, REDACTED, withoutCredentials } from './without-credentials.ts';

/** What a log field becomes before it is written. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
const MAX_TEXT = 8_192;

/**
 * Fields as plain data, fit for a log: errors as their chain of messages, secrets left out by the name of their key and
 * in texts by what looks like one, cycles and depth cut, long text shortened. Never throws.
 */
export function plainFields(fields: LogFields): Readonly<Record<string, Plain>> {
  if (isPlain(fields)) return fields;
  const plain: Record<string, Plain> = {};
  for (const key of Object.keys(fields)) {
    const value = plainValue(key, () => fields[key], []);
    if (value !== undefined) plain[key] = value;
  }
  return plain;
}

/** Most are: nothing of them has to be copied. */
function isPlain(fields: LogFields): fields is Readonly<Record<string, Plain>> {
  try {
    return isPlainObject(fields, 0);
  } catch {
    return false;
  }
}

function isPlainValue(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.length <= MAX_TEXT && !mayHaveCredentials(value);
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return true;
    case 'object':
      if (value === null) return true;
      if (depth >= MAX_DEPTH) return false;
      if (!Array.isArray(value)) return isPlainObject(value, depth);
      if (value.length > MAX_ITEMS) return false;
      for (const item of value) if (!isPlainValue(item, depth + 1)) return false;
      return true;
    case 'bigint':
    case 'symbol':
    case 'undefined':
    case 'function':
    default:
      return false;
  }
}

function isPlainObject(value: object, depth: number): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  const keys = Object.keys(value);
  if (keys.length > MAX_ITEMS) return false;
  for (const key of keys) if (looksSecret(key) || !isPlainValue(Reflect.get(value, key), depth + 1)) return false;
  return true;
}

function plainValue(key: string, read: () => unknown, above: readonly object[]): Plain | undefined {
  try {
    const value = read();
    if (value === undefined) return undefined;
    // Whether there is one, or how many, is no secret.
    if (looksSecret(key) && typeof value !== 'boolean' && value !== null) return REDACTED;
    return toPlain(value, above);
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.message : 'not an error'}]`;
  }
}

function toPlain(value: unknown, above: readonly object[]): Plain | undefined {
  switch (typeof value) {
    case 'string':
      return plainText(value);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'object':
      return value === null ? null : plainObject(value, above);
    case 'undefined':
    case 'function':
    default:
      return undefined;
  }
}

function plainObject(value: object, above: readonly object[]): Plain | undefined {
  if (value instanceof Error) return plainText(errorText(value));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (value instanceof URL) return plainText(value.href);
  if (above.includes(value)) return '[circular]';
  if (above.length >= MAX_DEPTH) return '[deep]';
  const path = [...above, value];
  if (Array.isArray(value) || value instanceof Set) {
    const items: readonly unknown[] = [...value];
    const plain = items.slice(0, MAX_ITEMS).map((item) => plainValue('', () => item, path) ?? null);
    return items.length > MAX_ITEMS ? [...plain, `[${items.length - MAX_ITEMS} more]`] : plain;
  }
  const source: object = value instanceof Map ? Object.fromEntries(value) : value;
  const keys = Object.keys(source);
  const plain: Record<string, Plain> = {};
  for (const key of keys.slice(0, MAX_ITEMS)) {
    const item = plainValue(key, () => Reflect.get(source, key), path);
    if (item !== undefined) plain[key] = item;
  }
  if (keys.length > MAX_ITEMS) plain['…'] = `[${keys.length - MAX_ITEMS} more]`;
  return plain;
}

function plainText(text: string): string {
  const short = text.length > MAX_TEXT ? `${withoutHalfUrl(text.slice(0, MAX_TEXT))}… [${text.length - MAX_TEXT} more]` : text;
  return withoutCredentials(short);
}

/** What is behind the slashes may be a password whose end is cut off. */
const withoutHalfUrl = (text: string): string => text.replace(/\/\/[^/\s]*$/, `//${REDACTED}`);
