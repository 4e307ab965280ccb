import type { Pod } from '../../../src/model/pod.ts';
import { killGracePeriodSeconds } from '../../../src/agent/reconcile/kill-grace-period.ts';

interface In {
  readonly pod?: Pod;
  readonly labelsFrom?: Pod;
  readonly containerName: string;
  readonly gracePeriodOverride?: number;
}

export const run = ({ pod, labelsFrom, containerName, gracePeriodOverride }: In): unknown => {
  const { metadata, spec } = pod ?? labelsFrom ?? {};
  const names = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name }) => name);
  // The kubelet refuses here; this agent stops what it does not know with the pod's grace period.
  if (pod && !names.includes(containerName)) return { error: `failed to get containerSpec "${containerName}"` };
  const { deletionGracePeriodSeconds } = metadata ?? {};
  const { terminationGracePeriodSeconds } = spec ?? {};
  return { timeoutSec: killGracePeriodSeconds({ deletionGracePeriodSeconds, terminationGracePeriodSeconds }, gracePeriodOverride) };
};
