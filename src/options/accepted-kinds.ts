import type * as zod from './zod-parts.ts';
import { parseStreamLevels } from '../base/verbosity.ts';
import { Quantity } from '../model/quantity.ts';
import { type GivenGates, impossibleGates } from './feature-gates/feature-gates.ts';
import { FeatureGatesError, parseFeatureGates } from './feature-gates/parse-feature-gates.ts';
import { duration, int32, int64, mapStringBool, string, uint32 } from './kinds.ts';
import { ExpectedError, type Kind } from './option.ts';

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

/**
 * logging.flushFrequency: a whole number of nanoseconds, as before 1.27, or a duration (TimeOrMetaDuration in component-base). Kept as it is
 * written: "5s" or nanoseconds.
 */
export const durationOrNanoseconds: Kind<string | number> = {
  name: duration.name,
  expected: duration.expected,
  parse: (text) => duration.show(duration.parse(text)),
  show: String,
  schema: (z) => {
    const expected = `a whole number of nanoseconds, or ${duration.expected}`;
    return readAs(z, expected, (value) => {
      if (typeof value === 'string') return durationOrNanoseconds.parse(value);
      if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
      throw new TypeError(expected);
    });
  },
};

export const featureGatesKind: Kind<GivenGates> = {
  ...mapStringBool,
  parse: (text) => {
    try {
      return parseFeatureGates(text);
    } catch (error) {
      if (!(error instanceof FeatureGatesError)) throw error;
      throw new ExpectedError(`${mapStringBool.expected} (${pairFaults(text).join('; ')})`);
    }
  },
};

/** More help no reader. */
const MAX_PAIR_FAULTS = 20;

/** What is wrong with pairs, each by itself, in their order; of very many the first. */
function pairFaults(text: string): readonly string[] {
  const faults: string[] = [];
  for (const pair of text.split(',')) {
    if (faults.length >= MAX_PAIR_FAULTS) return [...faults, 'and maybe more'];
    try {
      faults.push(...impossibleGates(parseFeatureGates(pair)));
    } catch (error) {
      if (!(error instanceof FeatureGatesError)) throw error;
      faults.push(error.message);
    }
  }
  return faults;
}

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

/** A whole number is written also where it was left out: Kubernetes has it as 0. */
const withNumbers = <T extends object>(kind: Kind<readonly Partial<T>[]>, zeros: Partial<T>): Kind<readonly Partial<T>[]> => ({
  ...kind,
  write: (values) => values.map((value) => ({ ...zeros, ...value })),
});

export interface GraceOfPriority {
  readonly priority: number;
  readonly shutdownGracePeriodSeconds: number;
}

/** One of logging.vmodule: here the pattern is of a stream's name. */
export interface LevelOfFiles {
  readonly filePattern: string;
  readonly verbosity: number;
}

const graceOfPriorities = items<GraceOfPriority>('a list of priorities', (z) => ({
  priority: int32.schema(z),
  shutdownGracePeriodSeconds: int64.schema(z),
}));
export const shutdownByPriority = withNumbers(graceOfPriorities, { priority: 0, shutdownGracePeriodSeconds: 0 });

const levelsOfFiles = items<LevelOfFiles>('a list of file patterns', (z) => ({
  filePattern: string.schema(z),
  verbosity: uint32.schema(z),
}));
/** component-base's pflags: pairs, which those of a repeated flag follow. */
export const vmodule: Kind<readonly Partial<LevelOfFiles>[]> = {
  ...levelsOfFiles,
  name: 'pattern=N,…',
  expected: 'pairs such as reconcile=5,lease=2',
  parse: (text) => {
    const levels = parseStreamLevels(text);
    if (levels === undefined) throw new ExpectedError(vmodule.expected);
    return levels.map(({ pattern, level }) => ({ filePattern: pattern, verbosity: level }));
  },
  merge: (values) => values.flat(),
  show: (values) => values.map(({ filePattern = '', verbosity = 0 }) => `${filePattern}=${verbosity}`).join(','),
  write: (values) => values.map((value) => ({ filePattern: '', verbosity: 0, ...value })),
};

export const numbers: Kind<readonly number[]> = {
  name: 'numbers',
  expected: 'a list of whole numbers',
  parse: (text) => text.split(',').map((number) => int32.parse(number)),
  show: (values) => values.join(','),
  schema: (z) => z.array(int32.schema(z), { error: numbers.expected }),
};
