import type { EvictionConfig } from '../../../src/model/eviction/parse-thresholds.ts';
import { parseThresholds } from '../../../src/model/eviction/parse-thresholds.ts';
import { thresholdAmount, type ThresholdValue } from '../../../src/model/eviction/threshold.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import { shownValue } from './eviction-thresholds.ts';

interface Input extends Partial<EvictionConfig> {
  readonly capacity?: Readonly<Record<string, string>>;
}

export function run({ capacity = {}, ...config }: Input): unknown {
  const none = { evictionHard: {}, evictionSoft: {}, evictionSoftGracePeriod: {}, evictionMinimumReclaim: {}, enforceNodeAllocatable: [] };
  const { thresholds, faults } = parseThresholds({ ...none, ...config });
  if (faults[0]) return { error: true, message: faults[0].message };
  const value = (signal: string, of: ThresholdValue): object => {
    const total = capacity[signal];
    return { ...(total !== undefined && { atCapacity: atCapacity(of, Quantity.parse(total)) }), ...shownValue(of) };
  };
  return thresholds
    .toSorted((a, b) => (a.signal < b.signal ? -1 : a.signal > b.signal ? 1 : a.graceMs - b.graceMs))
    .map(({ signal, value: at, graceMs, minReclaim }) => ({
      gracePeriodNs: Math.round(graceMs * 1e6),
      minReclaim: minReclaim && value(signal, minReclaim),
      operator: 'LessThan',
      signal,
      value: value(signal, at),
    }));
}

const atCapacity = (value: ThresholdValue, capacity: Quantity): number | string => {
  const amount = thresholdAmount(value, capacity).value();
  return amount > BigInt(Number.MAX_SAFE_INTEGER) ? String(amount) : Number(amount);
};
