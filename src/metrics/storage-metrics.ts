import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** How long volumes took to make (pkg/volume/util/metrics.go). */
export function storageMetrics(set: MetricSet): Pick<Happenings, 'volumeMounted'> {
  const seconds = set.histogram(
    'storage_operation_duration_seconds',
    'Storage operation duration',
    ['volume_plugin', 'operation_name', 'status', 'migrated'],
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  );
  return {
    volumeMounted: ({ plugin, tookMs, failed }) =>
      seconds.observe(
        { volume_plugin: plugin, operation_name: 'volume_mount', status: failed ? 'fail-unknown' : 'success', migrated: 'false' },
        tookMs / 1000,
      ),
  };
}
