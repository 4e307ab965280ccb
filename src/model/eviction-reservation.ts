import type { ResourceList } from './node.ts';
import { Quantity } from './quantity.ts';

/** So much has to stay free: an amount, or a share of what there is, from 0 to 1. */
export type LeastFree = { readonly amount: Quantity } | { readonly share: number };

const resourceOf: Readonly<Record<string, string>> = { 'memory.available': 'memory', 'nodefs.available': 'ephemeral-storage' };

/** What hard evictions keep free of what the node has (pkg/kubelet/cm hardEvictionReservation). Throws QuantityParseError. */
export function evictionReservation(
  hard: Iterable<{ readonly signal: string; readonly least: LeastFree }>,
  capacity: ResourceList,
): ResourceList {
  const kept: Record<string, string> = {};
  for (const { signal, least } of hard) {
    const name = resourceOf[signal];
    if (name !== undefined) kept[name] = ('amount' in least ? least.amount : shareOf(capacity[name], least.share)).canonical();
  }
  return kept;
}

/** Kubernetes keeps a share in 32 bits: some bytes more or less (GetThresholdQuantity). */
function shareOf(capacity: string | undefined, share: number): Quantity {
  return Quantity.of(Math.trunc(Number(Quantity.fromJson(capacity).value()) * Math.fround(share)), 'BinarySI');
}
