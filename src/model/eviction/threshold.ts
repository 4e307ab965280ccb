import { Quantity } from '../quantity.ts';

/** What a node may run short of (pkg/kubelet/eviction/api). */
export const signals = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;
export type Signal = (typeof signals)[number];

/** An amount, or a share of the capacity from 0 to 1. */
export type ThresholdValue = { readonly quantity: Quantity } | { readonly percentage: number };

/** What is left has fallen below a value. */
export interface Threshold {
  readonly signal: Signal;
  readonly value: ThresholdValue;
  /** For how long before anything is done about it. 0: at once, a hard threshold. */
  readonly graceMs: number;
  /** How much above the value there must be again before the threshold is no longer met. */
  readonly minReclaim: ThresholdValue | undefined;
}

/** What evictions are for where nothing is configured (DefaultEvictionHard on Linux). */
export const defaultEvictionHard: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** In bytes, inodes or processes (GetThresholdQuantity). */
export function thresholdAmount(value: ThresholdValue, capacity: Quantity): Quantity {
  if ('quantity' in value) return value.quantity;
  return Quantity.of(Math.trunc(Number(capacity.value()) * value.percentage), 'BinarySI');
}

/** One without a grace period (isHardEvictionThreshold). */
export const isHard = ({ graceMs }: Threshold): boolean => graceMs === 0;
