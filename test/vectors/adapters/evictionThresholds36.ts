import { isDeepStrictEqual } from 'node:util';
import { containerFsThresholds } from '../../../src/model/eviction/container-fs-thresholds.ts';
import { withDefaultEvictions } from '../../../src/options/decoding/default-settings.ts';
import { type ConfigInput, parsed, shown } from './eviction-thresholds.ts';

interface Input extends ConfigInput {
  readonly mergeDefaultEvictionSettings?: boolean;
  readonly imageFs?: boolean;
  readonly splitFs?: boolean;
}

interface Output {
  readonly hard?: object;
  readonly thresholds?: readonly object[];
  readonly updated?: readonly object[];
  readonly warning?: string;
  readonly error?: string;
}

export function run(input: Input): Output {
  const settings = new Map<string, unknown>([['mergeDefaultEvictionSettings', input.mergeDefaultEvictionSettings === true]]);
  if (input.hard) settings.set('evictionHard', input.hard);
  const hard = withDefaultEvictions(settings).get('evictionHard') as Readonly<Record<string, string>>;
  const { thresholds, faults } = parsed({ ...input, hard });
  const filledIn = input.hard === undefined || input.mergeDefaultEvictionSettings === true;
  if (faults[0]) return { error: faults[0].message };
  const out: Output = { ...(filledIn && { hard }), thresholds: shown(thresholds) };
  if (input.imageFs === undefined) return out;
  const updated = containerFsThresholds(thresholds, { imageFs: input.imageFs, splitFs: input.splitFs ?? false });
  const warning = updated.warnings.at(-1);
  return { ...out, updated: shown(updated.thresholds), ...(warning !== undefined && { warning }) };
}

/** Kubernetes adds thresholds of nothing, which nothing can meet: they have no operator. */
export function same(actual: Output, expected: Output): boolean {
  const real = (thresholds: readonly object[] | undefined) => thresholds?.filter((each) => !('operator' in each) || each.operator !== '');
  const { updated, ...rest } = expected;
  return isDeepStrictEqual(sorted(actual), sorted({ ...rest, ...(updated && { updated: real(updated) }) }));
}

const sorted = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_, each: unknown) => inOrder(each)));
const inOrder = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
