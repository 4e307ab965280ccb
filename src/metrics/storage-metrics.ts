import type { Happenings } from '../ports/happenings.ts';
import type { StorageKind } from '../ports/storage-operation.ts';
import { boundedNames } from './bounded-names.ts';
import type { MetricSet } from './metric-set.ts';

/** Seconds. */
export const storageBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** How long it took to make volumes and to take them back (pkg/volume/util/metrics.go). */
export function storageMetrics(set: MetricSet): Pick<Happenings, 'volumeMounted' | 'storageOperated'> {
  const seconds = set.histogram(
    'storage_operation_duration_seconds',
    'Storage operation duration',
    ['volume_plugin', 'operation_name', 'status', 'migrated'],
    storageBuckets,
  );
  // Of which driver a volume is, pods say: one pod can name hundreds that are not there.
  const nameOf = boundedNames();
  const observe = (operation: string, { plugin, isMigrated = false }: StorageKind, tookMs: number, failed: boolean): void =>
    seconds.observe(
      {
        volume_plugin: nameOf(plugin, !failed),
        operation_name: operation,
        status: failed ? 'fail-unknown' : 'success',
        migrated: String(isMigrated),
      },
      tookMs / 1000,
    );
  return {
    volumeMounted: (volume) => observe(volume.isDevice === true ? 'map_volume' : 'volume_mount', volume, volume.tookMs, volume.failed),
    storageOperated: (volume) => observe(volume.operation, volume, volume.tookMs, volume.failed),
  };
}
