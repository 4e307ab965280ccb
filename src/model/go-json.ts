// How Go's encoding/json writes a struct: fields in declared order, "omitempty" left out, HTML characters escaped. An encoder returns
// undefined for what is left out.
import { isJsonObject } from '../base/json-object.ts';
import { Quantity } from './quantity.ts';

export type Encoder = (value: unknown) => string | undefined;
export type Fields = Readonly<Record<string, Encoder>>;

const plain = /^[ !#-%'-;=?-[\]-~]*$/;
/** In what JSON.stringify makes: what Go escapes otherwise. Escaped backslashes are matched to be skipped. */
const differing = /\\\\|\\[bf]|[<>&\u2028\u2029]/g;
const goEscape = (found: string): string => {
  if (found === '\\\\') return found;
  const code = found === '\\b' ? 8 : found === '\\f' ? 12 : found.charCodeAt(0);
  return `\\u${code.toString(16).padStart(4, '0')}`;
};

function goString(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  // Through UTF-8, where half a character becomes U+FFFD.
  return JSON.stringify(Buffer.from(text).toString()).replace(differing, goEscape);
}

/** Left out when empty. */
export const text: Encoder = (value) => (typeof value === 'string' && value !== '' ? goString(value) : undefined);
/** Left out when zero. */
export const integer: Encoder = (value) =>
  (typeof value === 'number' || typeof value === 'bigint') && Number(value) !== 0 ? String(value) : undefined;
/** Left out when false. */
export const flag: Encoder = (value) => (value === true ? 'true' : undefined);
/** A pointer to a text, a number or a flag: left out only when absent. */
export const pointer: Encoder = (value) => scalar(value);
/** A number or a text, 0 when absent. */
export const intOrString: Encoder = (value) => scalar(value) ?? '0';
/** A struct, so never left out. */
export const quantity: Encoder = (value) => goString(Quantity.fromJson(value).canonical());

const scalar = (value: unknown): string | undefined => {
  if (typeof value === 'string') return goString(value);
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
};

/** Without "omitempty". */
export function always(encode: Encoder, zero: string): Encoder {
  return (value) => encode(value) ?? zero;
}

export function list(encode: Encoder): Encoder {
  return (value) => (Array.isArray(value) && value.length > 0 ? `[${value.map((item) => encode(item) ?? 'null').join(',')}]` : undefined);
}

/** Keys sorted, by their bytes. */
export function map(encode: Encoder): Encoder {
  return (value) => {
    const entries = isJsonObject(value) ? Object.entries(value) : [];
    if (entries.length === 0) return undefined;
    const sorted = entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${sorted.map(([key, item]) => `${goString(key)}:${encode(item) ?? 'null'}`).join(',')}}`;
  };
}

/** A struct held as a value: there even when absent. */
export function struct(fields: Fields): Encoder {
  const parts = Object.entries(fields).map(([name, encode]) => [name, `"${name}":`, encode] as const);
  return (value) => {
    const record = isJsonObject(value) ? value : {};
    let json = '';
    for (const [name, key, encode] of parts) {
      const encoded = encode(record[name]);
      if (encoded !== undefined) json += (json === '' ? '' : ',') + key + encoded;
    }
    return `{${json}}`;
  };
}

/** A struct behind a pointer: left out when absent. */
export function optionalStruct(fields: Fields): Encoder {
  const encode = struct(fields);
  return (value) => (isJsonObject(value) ? encode(value) : undefined);
}
