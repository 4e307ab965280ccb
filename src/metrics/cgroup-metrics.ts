import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** How long it took to make, change and remove cgroups (pkg/kubelet/cm). */
export function cgroupMetrics(set: MetricSet): Pick<Happenings, 'cgroupOperated'> {
  const seconds = set.histogram(
    'kubelet_cgroup_manager_duration_seconds',
    'Duration in seconds for cgroup manager operations. Broken down by method.',
    ['operation_type'],
  );
  return { cgroupOperated: ({ operation, tookMs }) => seconds.observe({ operation_type: operation }, tookMs / 1000) };
}
