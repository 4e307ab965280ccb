import { isHard, type Threshold, thresholdAmount } from './eviction/threshold.ts';
import type { ResourceList } from './node.ts';
import { Quantity } from './quantity.ts';

const resourceOf: Readonly<Record<string, string>> = { 'memory.available': 'memory', 'nodefs.available': 'ephemeral-storage' };

/** What hard evictions keep free of what the node has (pkg/kubelet/cm hardEvictionReservation). Throws QuantityParseError. */
export function evictionReservation(thresholds: Iterable<Threshold>, capacity: ResourceList): ResourceList {
  const kept: Record<string, string> = {};
  for (const threshold of thresholds) {
    const name = isHard(threshold) ? resourceOf[threshold.signal] : undefined;
    if (name !== undefined) kept[name] = thresholdAmount(threshold.value, Quantity.fromJson(capacity[name])).canonical();
  }
  return kept;
}
