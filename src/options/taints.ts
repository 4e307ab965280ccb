import { isLabelValue, isQualifiedName } from '../model/validation/formats.ts';
import { items } from './accepted-kinds.ts';
import { string } from './kinds.ts';
import { ExpectedError, type Kind } from './option.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/** A core/v1 Taint as a setting. */
export interface Taint {
  readonly key: string;
  /** Empty: a taint without a value. */
  readonly value: string;
  readonly effect: (typeof effects)[number];
}

/** As they may stand in a config file, before anything is checked. */
const writtenTaints = items<Taint & { timeAdded: string }>('a list of taints', (z) => ({
  key: string.schema(z),
  value: string.schema(z),
  effect: string.schema(z),
  timeAdded: string.schema(z),
}));

const expected = 'taints such as key=value:NoSchedule,other:NoExecute';

/**
 * pkg/util/taints: `key=value:effect` or `key:effect`, comma-separated; the last flag wins. The kubelet also takes a bare key, which
 * the API server then refuses for its missing effect: here it is refused at the start.
 */
export const taints: Kind<readonly Taint[]> = {
  name: '[]api.Taint',
  expected,
  parse: (text) => (text === '' ? [] : text.split(',').map(parseTaint)),
  show: (values) => values.map(({ key, value, effect }) => `${key}${value === '' ? '' : `=${value}`}:${effect}`).join(','),
  schema: (z) =>
    z.array(
      z
        .strictObject(
          {
            key: z.string({ error: 'a string' }),
            value: z.string({ error: 'a string' }).nullish(),
            effect: z.enum(effects, { error: effects.join(' or ') }),
            timeAdded: z.unknown(),
          },
          { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'a map with key, value and effect') },
        )
        .partial({ timeAdded: true })
        .transform(({ key, value, effect }, context) => {
          const taint = { key, value: value ?? '', effect };
          if (!isWellFormed(taint)) context.addIssue({ code: 'custom', message: 'a taint with a valid key and value' });
          return taint;
        }),
      { error: 'a list of taints' },
    ),
  inFile: {
    ...writtenTaints,
    write: (values) =>
      Array.isArray(values)
        ? values.map(({ key, value, effect, timeAdded }: Readonly<Record<string, unknown>>) => ({
            key: key ?? '',
            effect: effect ?? '',
            ...(Boolean(value) && { value }),
            ...(Boolean(timeAdded) && { timeAdded }),
          }))
        : [],
  },
};

function parseTaint(text: string): Taint {
  const [, key = '', value = '', word] = /^([^=:]*)(?:=([^=:]*))?:([^:]*)$/.exec(text.trim()) ?? [];
  const effect = effects.find((known) => known === word);
  if (effect === undefined || !isWellFormed({ key, value, effect })) throw new ExpectedError(expected);
  return { key, value, effect };
}

function isWellFormed({ key, value }: Taint): boolean {
  return isQualifiedName(key).length === 0 && isLabelValue(value).length === 0;
}
