import type * as zod from './zod-parts.ts';
import { Quantity } from '../model/quantity.ts';
import { duration, int32, int64, opaque, string, uint } from './kinds.ts';
import type { Kind } from './option.ts';

type Z = typeof zod;

/** A value that `read` turns into another, or throws over. */
const readAs = <T>(z: Z, expected: string, read: (value: unknown) => T): zod.ZodType<T> =>
  z.unknown().transform((value, context) => {
    try {
      return read(value);
    } catch {
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    }
  });

const NS_PER_MS = 1_000_000;

/** logging.flushFrequency: a whole number of nanoseconds, as before 1.27, or a duration (TimeOrMetaDuration in component-base). Milliseconds. */
export const durationOrNanoseconds: Kind<number> = {
  ...duration,
  schema: (z) => {
    const expected = `a whole number of nanoseconds, or ${duration.expected}`;
    return readAs(z, expected, (value) => {
      if (typeof value === 'string') return duration.parse(value);
      if (typeof value === 'number' && Number.isSafeInteger(value)) return value / NS_PER_MS;
      throw new TypeError(expected);
    });
  },
};

/** A resource.Quantity: a text, or a bare number. As its shortest text. */
export const quantity: Kind<string> = {
  name: 'quantity',
  expected: 'a quantity such as 500m, 1.5 or 64Mi',
  parse: (text) => text,
  show: (text) => text,
  schema: (z) => readAs(z, quantity.expected, (value) => Quantity.fromJson(value).canonical()),
};

/** What a flag gives as a text of its own, and the config file as a list of maps with these fields; all of them may be left out. */
export function items<T>(expected: string, fields: (z: Z) => Readonly<Record<keyof T & string, zod.ZodType>>): Kind<readonly Partial<T>[]> {
  return {
    name: 'value',
    expected,
    // The flag's own notation stays unread.
    parse: () => [],
    show: () => '',
    schema: (z) => {
      const shape = Object.fromEntries(Object.entries<zod.ZodType>(fields(z)).map(([name, type]) => [name, type.nullish()]));
      const item = z.strictObject(shape, {
        error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : `a map with ${Object.keys(shape).join(' and ')}`),
      });
      return z.array(item, { error: expected }) as zod.ZodType<readonly Partial<T>[]>;
    },
  };
}

export const reservedMemory = items<{ numaNode: number; limits: Readonly<Record<string, string>> }>('a list of NUMA nodes', (z) => ({
  numaNode: int32.schema(z),
  limits: z.record(z.string(), quantity.schema(z), { error: 'a map' }),
}));

export const shutdownByPriority = items<{ priority: number; shutdownGracePeriodSeconds: number }>('a list of priorities', (z) => ({
  priority: int32.schema(z),
  shutdownGracePeriodSeconds: int64.schema(z),
}));

export const vmodule: Kind<unknown> = {
  ...opaque,
  schema: (z) =>
    items<{ filePattern: string; verbosity: number }>('a list of file patterns', () => ({
      filePattern: string.schema(z),
      verbosity: uint.schema(z),
    })).schema(z),
};

export const numbers: Kind<readonly number[]> = {
  name: 'numbers',
  expected: 'a list of whole numbers',
  parse: (text) => text.split(',').map((number) => int32.parse(number)),
  show: (values) => values.join(','),
  schema: (z) => z.array(int32.schema(z), { error: numbers.expected }),
};
