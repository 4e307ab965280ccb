import { parseThresholds } from '../../../src/model/eviction/parse-thresholds.ts';
import type { Threshold, ThresholdValue } from '../../../src/model/eviction/threshold.ts';

type Texts = Readonly<Record<string, string>>;

export interface ConfigInput {
  readonly hard?: Texts;
  readonly soft?: Texts;
  readonly softGracePeriod?: Texts;
  readonly minimumReclaim?: Texts;
  readonly enforceNodeAllocatable?: readonly string[];
}

export function parsed(input: ConfigInput): ReturnType<typeof parseThresholds> {
  return parseThresholds({
    evictionHard: input.hard ?? {},
    evictionSoft: input.soft ?? {},
    evictionSoftGracePeriod: input.softGracePeriod ?? {},
    evictionMinimumReclaim: input.minimumReclaim ?? {},
    enforceNodeAllocatable: input.enforceNodeAllocatable ?? [],
  });
}

export const shownValue = (value: ThresholdValue): object =>
  'quantity' in value
    ? { quantity: value.quantity.canonical() }
    : { percentage: Number.isNaN(value.percentage) ? 'NaN' : shortest(value.percentage) };

/** The shortest decimal number that a float32 is nearest to. */
function shortest(value: number): number {
  for (let digits = 1; ; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return text;
  }
}

export const shown = (thresholds: readonly Threshold[]): readonly object[] =>
  thresholds
    .map(({ signal, value, graceMs, minReclaim }) => ({
      gracePeriodSec: graceMs / 1000,
      ...(minReclaim && { minReclaim: shownValue(minReclaim) }),
      operator: 'LessThan',
      signal,
      value: shownValue(value),
    }))
    .map((each) => ({ each, text: JSON.stringify(each) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ each }) => each);
