import type { FilesystemStats } from '../ports/pod-stats.ts';
import type { ImageGcPolicy } from './image-gc-policy.ts';

/** What a file system lacks for the policy. */
export interface SpaceToFree {
  readonly usedPercent: number;
  readonly capacityBytes: number;
  readonly bytes: number;
}

/** The numbers of a file system say nothing: neither that it is full nor that it is not. */
export class FileSystemNumbersError extends Error {
  override readonly name = 'FileSystemNumbersError';
}

/**
 * What is to be freed so that the file system is used up to the low threshold; undefined below the high one
 * (GarbageCollect in pkg/kubelet/images). Throws FileSystemNumbersError for a size of 0, and for numbers that are none.
 */
export function spaceToFree(
  fs: Pick<FilesystemStats, 'availableBytes' | 'capacityBytes'>,
  { highThresholdPercent, lowThresholdPercent }: Pick<ImageGcPolicy, 'highThresholdPercent' | 'lowThresholdPercent'>,
): SpaceToFree | undefined {
  const capacityBytes = fs.capacityBytes ?? 0;
  if (!isCount(capacityBytes) || capacityBytes === 0)
    throw new FileSystemNumbersError(`invalid capacity ${capacityBytes} on image filesystem`);
  const { availableBytes: available } = fs;
  // Read as a number, what is not known would be a full disk.
  if (available === undefined || !isCount(available)) {
    throw new FileSystemNumbersError(`invalid number of available bytes on image filesystem: ${available ?? 'not known'}`);
  }
  const availableBytes = Math.min(available, capacityBytes);
  const usedPercent = 100 - Math.floor((availableBytes * 100) / capacityBytes);
  if (usedPercent < highThresholdPercent) return undefined;
  const bytes = Math.floor((capacityBytes * (100 - lowThresholdPercent)) / 100) - availableBytes;
  return { usedPercent, capacityBytes, bytes };
}

const isCount = (value: number): boolean => Number.isFinite(value) && value >= 0;
