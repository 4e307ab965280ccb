import type { Pod } from './pod.ts';
import { Quantity } from './quantity.ts';
import { resourceConfigForPod } from './resource-config.ts';

const CPU_DOES_NOT_MATTER = { periodUs: 100_000, enforceCpuLimits: false, customPeriod: false };

/**
 * The bytes of a volume in memory: its own limit, but no more than the pod may use, nor than all pods of the node may; undefined where none of
 * these is known (pkg/volume/emptydir calculateEmptyDirMemorySize). Throws QuantityParseError.
 */
export function memoryVolumeBytes(pod: Pod, sizeLimit: string | undefined, allocatable: string | undefined): bigint | undefined {
  const ofPod = BigInt(resourceConfigForPod(pod, CPU_DOES_NOT_MATTER).memory ?? 0);
  const bounds = [Quantity.fromJson(allocatable).value(), ofPod, Quantity.fromJson(sizeLimit).value()].filter((bytes) => bytes > 0n);
  return bounds.reduce<bigint | undefined>((least, bytes) => (least === undefined || bytes < least ? bytes : least), undefined);
}
