/** When images are removed (pkg/kubelet/images ImageGCPolicy). Ages are milliseconds. */
export interface ImageGcPolicy {
  /** At this usage of the file system images are removed. Percent. */
  readonly highThresholdPercent: number;
  /** Down to this one. */
  readonly lowThresholdPercent: number;
  /** What was detected later stays. */
  readonly minAgeMs: number;
  /** What was last used longer ago goes, whatever the usage; 0: none does. */
  readonly maxAgeMs: number;
}

/** Throws, in the kubelet's words, for thresholds that make no sense. */
export function checkImageGcPolicy({ highThresholdPercent: high, lowThresholdPercent: low }: ImageGcPolicy): void {
  for (const [name, percent] of Object.entries({ HighThresholdPercent: high, LowThresholdPercent: low })) {
    if (percent < 0 || percent > 100) throw new RangeError(`invalid ${name} ${percent}, must be in range [0-100]`);
  }
  if (low > high) throw new RangeError(`LowThresholdPercent ${low} can not be higher than HighThresholdPercent ${high}`);
}
