import type { Pod } from '../../model/pod.ts';

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
 * Before overrides and the minimum: deletion's grace period, else the failed probe's own, else the pod's. Without a pod's the probe's has no
 * say (setTerminationGracePeriod in pkg/kubelet/kuberuntime).
 */
export function gracePeriodSeconds(periods: GracePeriods, probeSeconds?: number): number {
  const { deletionGracePeriodSeconds: deletion, terminationGracePeriodSeconds: ofPod } = periods;
  return deletion ?? (ofPod === undefined ? minimumGracePeriodSeconds : (probeSeconds ?? ofPod));
}

/**
 * Seconds between SIGTERM and SIGKILL. Deletion's grace period goes before the spec's; an override goes before both and is the only way
 * below the minimum (killContainer in pkg/kubelet/kuberuntime).
 */
export function killGracePeriodSeconds(periods: GracePeriods, overrideSeconds?: number): number {
  return overrideSeconds ?? Math.max(gracePeriodSeconds(periods), minimumGracePeriodSeconds);
}
