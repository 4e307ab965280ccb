import type { Pod } from '../model/pod.ts';

/** pkg/kubelet/kuberuntime: time for a SIGTERM to work, so that a pod with grace 0 is not killed needlessly hard. */
export const minimumGracePeriodSeconds = 2;

/** Where a grace period is found: a pod's metadata and spec, or the record on a container's labels when the pod is unknown. */
export interface GracePeriods {
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
}

export function gracePeriodsOf({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): GracePeriods {
  return {
    deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
  };
}

/**
 * Seconds between SIGTERM and SIGKILL. Deletion's grace period goes before the spec's; an override goes before both and is the only way
 * below the minimum (killContainer in pkg/kubelet/kuberuntime).
 */
export function killGracePeriodSeconds(periods: GracePeriods, overrideSeconds?: number): number {
  if (overrideSeconds !== undefined) return overrideSeconds;
  const seconds = periods.deletionGracePeriodSeconds ?? periods.terminationGracePeriodSeconds ?? minimumGracePeriodSeconds;
  return Math.max(seconds, minimumGracePeriodSeconds);
}
