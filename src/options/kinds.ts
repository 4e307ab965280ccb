import { isIP } from 'node:net';
import type * as zod from './zod-parts.ts';
import { formatGoDuration, parseGoDuration } from '../model/go-duration.ts';
import { engineEndpointForms, parseEngineEndpoint } from '../model/engine-endpoint.ts';
import { mapOf } from './map-of.ts';
import { ExpectedError, type Kind } from './option.ts';
import { truths } from './truths.ts';

type Z = typeof zod;
type Pairs = Readonly<Record<string, string>>;
/** Header name → its values in order. */
export type Multimap = Readonly<Record<string, readonly string[]>>;

const NS_PER_MS = 1_000_000n;

const refuse = (expected: string): never => {
  throw new ExpectedError(expected);
};

export const bool: Kind<boolean> = {
  name: 'bool',
  expected: 'true or false',
  bare: 'true',
  parse: (text) => truths.get(text) ?? refuse(bool.expected),
  show: String,
  schema: (z) => z.boolean({ error: bool.expected }),
};

// strconv.ParseInt with base 0: a prefix chooses the base, a leading 0 means octal, underscores may separate digits after a digit or prefix.
const integerForms: readonly (readonly [RegExp, (digits: string) => string])[] = [
  [/^0[xX](_?[0-9a-fA-F])+$/, (digits) => digits],
  [/^0[bB](_?[01])+$/, (digits) => digits],
  [/^0[oO](_?[0-7])+$/, (digits) => digits],
  [/^0(_?[0-7])+$/, (digits) => `0o${digits.slice(1)}`],
  [/^(0|[1-9](_?[0-9])*)$/, (digits) => digits],
];

function integer(name: string, min: number, max: number): Kind<number> {
  const expected = `a whole number from ${min} to ${max}`;
  return {
    name,
    expected,
    parse: (text) => {
      const digits = text.replace(/^[+-]/, '');
      const rewrite = integerForms.find(([form]) => form.test(digits))?.[1] ?? refuse(expected);
      const value = Number(rewrite(digits).replaceAll('_', '')) * (text.startsWith('-') ? -1 : 1);
      if (value < min || value > max) refuse(expected);
      return value === 0 ? 0 : value;
    },
    show: String,
    schema: (z) => z.number({ error: expected }).int(expected).min(min, expected).max(max, expected),
  };
}

export const int32 = integer('int32', -(2 ** 31), 2 ** 31 - 1);
/** As far as a number is exact: 53 bits, where Go has 64. */
export const int64 = integer('int', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
export const uint32 = integer('uint32', 0, 2 ** 32 - 1);
export const uint = integer('uint', 0, Number.MAX_SAFE_INTEGER);

export const float: Kind<number> = {
  name: 'float',
  expected: 'a number',
  parse: (text) => (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : refuse(float.expected)),
  show: String,
  schema: (z) => z.number({ error: float.expected }),
};

/** Milliseconds, with fractions where the duration has them. Written as Go's time.ParseDuration reads it. */
export const duration: Kind<number> = {
  name: 'duration',
  expected: 'a duration such as 1m30s or 500ms',
  parse: (text) => {
    try {
      return Number(parseGoDuration(text)) / Number(NS_PER_MS);
    } catch {
      return refuse(duration.expected);
    }
  },
  show: (ms) => formatGoDuration(BigInt(Math.round(ms * Number(NS_PER_MS)))),
  write: (ms) => duration.show(ms),
  // metav1.Duration is a JSON string; a bare number is refused, as it has no unit.
  schema: (z) => parsedText(z, duration.expected, (text) => duration.parse(text)),
};

export const string: Kind<string> = {
  name: 'string',
  expected: 'a string',
  parse: (text) => text,
  show: (value) => value,
  schema: (z) => z.string({ error: string.expected }),
};

/** Of a Docker engine, or `fake://…`, whose options the embedded engine reads; empty: none is named. */
export const engineEndpoint: Kind<string> = {
  name: 'string',
  expected: `${engineEndpointForms} or fake://`,
  parse: (text) => (text === '' || text.startsWith('fake://') || parseEngineEndpoint(text) ? text : refuse(engineEndpoint.expected)),
  show: (value) => value,
  schema: (z) => z.string({ error: engineEndpoint.expected }),
};

export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  const expected = values.join(' or ');
  return {
    name: values.join('|'),
    expected,
    parse: (text) => values.find((value) => value === text) ?? refuse(expected),
    show: (value) => value,
    schema: (z) => z.enum(values, { error: expected }),
    inFile: string,
  };
}

export const ip: Kind<string> = {
  name: 'ip',
  expected: 'an IP address',
  parse: (text) => (isIP(text.trim()) > 0 ? text.trim() : refuse(ip.expected)),
  show: (value) => value,
  schema: (z) => z.string({ error: ip.expected }).refine((text) => isIP(text) > 0, ip.expected),
  inFile: string,
};

/** What `parse` reads, from a text in the config file. */
export const parsedText = <T>(z: Z, expected: string, parse: (text: string) => T): zod.ZodType<T> =>
  z.string({ error: expected }).transform((text, context) => {
    try {
      return parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    }
  });

/** A field that is an empty text in the config file is one that is not set: it is dropped when the file's values are picked. */
export function orUnset<T extends string>(kind: Kind<T>): Kind<T> {
  const isUnset = (text: string): text is T => text === '';
  return { ...kind, schema: (z) => parsedText(z, kind.expected, (text) => (isUnset(text) ? text : kind.parse(text))) };
}

/** pflag's StringSlice: comma-separated values, quoted as in CSV where they hold a comma. */
export const strings: Kind<readonly string[]> = {
  name: 'strings',
  expected: 'a comma-separated list',
  parse: (text) => {
    if (text === '') return [];
    const fields = `,${text}`.match(/,(?:"(?:[^"]|"")*"|[^",]*)/g) ?? [];
    if (fields.join('') !== `,${text}`) refuse(strings.expected);
    return fields.map((field) => (field.startsWith(',"') ? field.slice(2, -1).replaceAll('""', '"') : field.slice(1)));
  },
  merge: (values) => values.flat(),
  show: (values) => values.map((value) => (/[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(','),
  schema: (z) => z.array(z.string({ error: string.expected }), { error: 'a list of strings' }),
};

/** component-base's map flags: pairs joined by `separator`, comma-separated, blanks around them dropped. */
function pairs<V>(
  name: string,
  separator: string,
  expected: string,
  value: { parse(text: string): V; show(value: V): string; schema(z: Z): zod.ZodType<V> },
  zero: V,
): Kind<Readonly<Record<string, V>>> {
  return {
    name,
    expected,
    parse: (text) =>
      Object.fromEntries(
        text
          .split(',')
          .filter((pair) => pair !== '')
          .map((pair) => {
            const at = pair.indexOf(separator);
            if (at < 0) refuse(expected);
            return [pair.slice(0, at).trim(), value.parse(pair.slice(at + 1).trim())];
          }),
      ),
    merge: (values) => Object.fromEntries(values.flatMap((map) => Object.entries(map))),
    show: (map) =>
      Object.entries(map)
        .map(([key, item]) => `${key}${separator}${value.show(item)}`)
        .toSorted()
        .join(','),
    // As Go's maps take it, null is the zero of its values; in a drop-in file it takes the name away.
    schema: (z) =>
      mapOf(
        z,
        value
          .schema(z)
          .nullable()
          .transform((item) => item ?? zero),
      ),
  };
}

export const mapStringString: Kind<Pairs> = pairs('mapStringString', '=', 'pairs such as a=b,c=d', string, '');
export const mapStringBool: Kind<Readonly<Record<string, boolean>>> = pairs(
  'mapStringBool',
  '=',
  'pairs such as A=true,B=false',
  bool,
  false,
);
/** Eviction thresholds. */
export const langleSeparatedMap: Kind<Pairs> = pairs('mapStringString', '<', 'pairs such as memory.available<100Mi', string, '');

/** Any name will do: also one that every object has, such as "constructor". */
function multimapOf(pairs: readonly (readonly [name: string, value: string])[]): Multimap {
  const map = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const known = map.get(name);
    if (known === undefined) map.set(name, [value]);
    else known.push(value);
  }
  return Object.fromEntries(map);
}

/** HTTP headers: `--flag 'a:hello,b:again' --flag b:beautiful`; values of one name keep their order. */
export const colonSeparatedMultimap: Kind<Multimap> = {
  name: 'colonSeparatedMultimap',
  expected: 'pairs such as Name:value,Other:value',
  sensitive: true,
  parse: (text) => {
    const given = text.split(',').filter((pair) => pair !== '');
    return multimapOf(
      given.map((pair) => {
        const at = pair.indexOf(':');
        if (at < 0) refuse(colonSeparatedMultimap.expected);
        return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      }),
    );
  },
  merge: (maps) =>
    multimapOf(maps.flatMap((map) => Object.entries(map).flatMap(([name, values]) => values.map((value) => [name, value] as const)))),
  show: (map) =>
    Object.keys(map)
      .toSorted()
      .flatMap((name) => (map[name] ?? []).map((value) => `${name}:${value}`))
      .join(','),
  schema: (z) => mapOf(z, strings.schema(z), 'a map from header name to a list of values'),
};

/** What is passed over unread: another flag library's own types, or a field of many shapes. */
export const opaque: Kind<unknown> = {
  name: 'value',
  expected: 'a value',
  parse: (text) => text,
  show: String,
  schema: (z) => z.unknown(),
};
