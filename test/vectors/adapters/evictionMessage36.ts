import { evictionMessage } from '../../../src/eviction/eviction-message.ts';
import type { StarvedResource } from '../../../src/eviction/starved-resource.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { Quantity, type QuantityFormat } from '../../../src/model/quantity.ts';
import { measured, type StatsInput } from './eviction-stats.ts';

interface Input {
  readonly resource: StarvedResource;
  readonly pod: Pod;
  readonly stats?: readonly StatsInput[];
  readonly threshold?: { readonly signal: string; readonly value: string; readonly available: number; readonly capacity: number };
}

export function run({ resource, pod, stats, threshold }: Input): unknown {
  const format: QuantityFormat = resource === 'memory' || resource === 'ephemeral-storage' ? 'BinarySI' : 'DecimalSI';
  const exceeded = threshold && {
    threshold: Quantity.parse(threshold.value),
    available: Quantity.of(threshold.available, format),
  };
  const [found = { pod, usage: undefined }] = measured([pod], stats);
  return evictionMessage(resource, found, exceeded);
}
