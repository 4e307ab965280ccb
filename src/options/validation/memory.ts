import { type CheckedSettings, invalid, type Rule } from './checked-settings.ts';
import { unknownWord } from './unknown-word.ts';

/** Memory: swap, what is throttled and what is reserved. */
export const memory: Rule = (of) => [...swap(of), ...quality(of), ...reservedPerNode(of)];

function swap(of: CheckedSettings): readonly (string | false)[] {
  const behavior = of.text('memorySwap.swapBehavior');
  const isKnown = ['', 'LimitedSwap', 'NoSwap'].includes(behavior);
  return [!isKnown && invalid(`memorySwap.swapBehavior ${JSON.stringify(behavior)} must be one of: "", "LimitedSwap" or "NoSwap"`)];
}

function quality(of: CheckedSettings): readonly (string | false)[] {
  const factor = of.number('memoryThrottlingFactor');
  const policy = of.text('memoryReservationPolicy');
  return [
    of.has('memoryThrottlingFactor') &&
      (factor <= 0 || factor > 1) &&
      invalid(`memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`),
    policy === 'TieredReservation' &&
      !of.gate('MemoryQoS') &&
      invalid('memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled'),
    !['None', 'TieredReservation'].includes(policy) &&
      invalid(unknownWord(policy, ['None', 'TieredReservation'], 'memoryReservationPolicy')),
  ];
}

/** validateReservedMemoryConfiguration */
function reservedPerNode(of: CheckedSettings): readonly string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { numaNode, limits } of of.maps('reservedMemory')) {
    const node = typeof numaNode === 'number' ? numaNode : 0;
    for (const [resource, amount] of Object.entries(limits ?? {})) {
      const isKnown = resource === 'memory' || resource.startsWith('hugepages-');
      const where = `for NUMA node ${node} and resource ${JSON.stringify(resource)}`;
      if (!isKnown)
        faults.push(
          `the limit type ${JSON.stringify(resource)} for NUMA node ${node} is not supported, only [memory hugepages-<HugePageSize>] is accepted`,
        );
      if (amount === '0') faults.push(`reserved memory may not be zero ${where}`);
      if (seen.has(`${node} ${resource}`)) faults.push(`the reserved memory has a duplicate value ${where}`);
      seen.add(`${node} ${resource}`);
    }
  }
  return faults.map(invalid);
}
