import { featureGates } from '../../options/feature-gates/feature-gates.ts';
import type { KubeletOptions } from '../../options/kubelet-options.ts';
import type { RestartDelays } from './restart-backoff.ts';

/** The first and the longest delay of crash loops, by two feature gates (newCrashLoopBackOff in pkg/kubelet/kubelet.go). */
export function restartDelays({
  featureGates: given,
  maxContainerRestartPeriodMs,
}: Pick<KubeletOptions, 'featureGates' | 'maxContainerRestartPeriodMs'>): RestartDelays {
  const gates = featureGates(given);
  const usual = gates.isOn('ReduceDefaultCrashLoopBackOffDecay') ? { firstMs: 1_000, maxMs: 60_000 } : { firstMs: 10_000, maxMs: 300_000 };
  return gates.isOn('KubeletCrashLoopBackOffMax') ? { ...usual, maxMs: maxContainerRestartPeriodMs } : usual;
}
