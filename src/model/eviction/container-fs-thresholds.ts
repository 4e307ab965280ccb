import type { Signal, Threshold } from './threshold.ts';

/** How images and the containers' writable layers are laid out. */
export interface FilesystemLayout {
  /** Images are on another file system than nodefs. */
  readonly imageFs: boolean;
  /** The writable layers are on another file system than the images: on nodefs. */
  readonly splitFs: boolean;
}

export interface ContainerFsThresholds {
  readonly thresholds: readonly Threshold[];
  /** What was configured and counts for nothing, a text each; in the kubelet's words. */
  readonly warnings: readonly string[];
}

const counterparts: readonly (readonly [Signal, inNodeFs: Signal, inImageFs: Signal])[] = [
  ['containerfs.available', 'nodefs.available', 'imagefs.available'],
  ['containerfs.inodesFree', 'nodefs.inodesFree', 'imagefs.inodesFree'],
];

/** The file system of the writable layers has the thresholds of the one that it is: those of its own are passed over (UpdateContainerFsThresholds). */
export function containerFsThresholds(thresholds: readonly Threshold[], { imageFs, splitFs }: FilesystemLayout): ContainerFsThresholds {
  // Split without a file system of their own for images is nothing that can be: the kubelet then leaves all as it is.
  if (!imageFs && splitFs) return { thresholds, warnings: [] };
  const all: Threshold[] = [];
  const warnings: string[] = [];
  for (const threshold of thresholds) {
    const isOwn = counterparts.some(([signal]) => signal === threshold.signal);
    if (isOwn) warnings.push(`found ${threshold.signal} for ${threshold.graceMs === 0 ? 'hard' : 'soft'} eviction. ignoring`);
    else all.push(threshold);
  }
  for (const [signal, inNodeFs, inImageFs] of counterparts) {
    const counterpart = imageFs && !splitFs ? inImageFs : inNodeFs;
    all.push(...thresholds.filter((threshold) => threshold.signal === counterpart).map((threshold) => ({ ...threshold, signal })));
  }
  return { thresholds: all, warnings };
}
