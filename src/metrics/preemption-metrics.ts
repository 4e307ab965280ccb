import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** Pods that were ended for critical ones (pkg/kubelet/metrics/metrics.go). */
export function preemptionMetrics(set: MetricSet): Pick<Happenings, 'podPreempted'> {
  const preemptions = set.counter('kubelet_preemptions', 'Cumulative number of pod preemptions by preemption resource', [
    'preemption_signal',
  ]);
  return { podPreempted: ({ signal }) => preemptions.inc({ preemption_signal: signal }) };
}
