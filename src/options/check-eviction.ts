import { type EvictionConfig, type EvictionFault, parseThresholds } from '../model/eviction/parse-thresholds.ts';
import type { Threshold, ThresholdValue } from '../model/eviction/threshold.ts';
import { evictionOptions } from './table/eviction.ts';

type Field = EvictionFault['field'];
export type EvictionTexts = Pick<EvictionConfig, Field>;

const nothing: EvictionConfig = {
  evictionHard: {},
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
  enforceNodeAllocatable: [],
};

const named = (field: Field): string => `${field} (--${evictionOptions[field].flag})`;

/** What is wrong with eviction thresholds: what a kubelet does not start with, in its words, and what contradicts itself. A sentence each. */
export function evictionProblems(texts: EvictionTexts): readonly string[] {
  // Copies for the pods' cgroup have no faults of their own.
  const { thresholds, faults } = parseThresholds({ ...texts, enforceNodeAllocatable: [] });
  const parts = faults.map(({ field, signal, text, message }) => `${at(field, signal, text)}: ${message}`);
  return [...parts, ...contradictions(texts, thresholds)].map((problem) => `invalid configuration: ${problem}`);
}

const at = (field: Field, signal: string, text: string | undefined): string =>
  text === undefined ? `${named(field)} ${signal}` : `${named(field)} ${signal} ${JSON.stringify(text)}`;

function contradictions(texts: EvictionTexts, thresholds: readonly Threshold[]): readonly string[] {
  const problems: string[] = [];
  const textOf = (field: Field, signal: string): string => at(field, signal, texts[field][signal]);
  // A signal has at most one of each, and the hard ones come first.
  const { thresholds: hardOnes } = parseThresholds({ ...nothing, evictionHard: texts.evictionHard });
  const hard = new Map(hardOnes.map(({ signal, value }) => [signal, value]));
  for (const [index, { signal, value, minReclaim }] of thresholds.entries()) {
    const isSoft = index >= hardOnes.length;
    const limit = hard.get(signal);
    const field = isSoft ? 'evictionSoft' : 'evictionHard';
    if (isNaN(value)) problems.push(`${textOf(field, signal)}: a threshold must be a number`);
    if (isSoft && limit !== undefined && isBelow(value, limit))
      problems.push(`${textOf(field, signal)} is below ${textOf('evictionHard', signal)}, which would always act before it`);
    if (minReclaim === undefined) continue;
    if (isNaN(minReclaim)) problems.push(`${textOf('evictionMinimumReclaim', signal)}: a minimum reclaim must be a number`);
    if ('percentage' in value && 'percentage' in minReclaim && Math.fround(value.percentage + minReclaim.percentage) > 1)
      problems.push(
        `${textOf(field, signal)} and ${textOf('evictionMinimumReclaim', signal)} are more than 100% together: no eviction would be enough`,
      );
  }
  return problems;
}

const isNaN = (value: ThresholdValue): boolean => 'percentage' in value && Number.isNaN(value.percentage);

/** Amounts and shares do not compare: which is more depends on the machine. */
function isBelow(value: ThresholdValue, other: ThresholdValue): boolean {
  if ('percentage' in value) return 'percentage' in other && value.percentage < other.percentage;
  return 'quantity' in other && value.quantity.cmp(other.quantity) < 0;
}
