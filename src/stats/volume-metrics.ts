import { exposition, type MetricFamily } from '../base/exposition.ts';
import type { PodUsage, VolumeUsage } from '../ports/pod-stats.ts';

/** What /metrics tells of claims and logs besides the agent's own metrics (pkg/kubelet/metrics/collectors volume_stats.go, log_metrics.go). */
export function volumeMetrics(pods: readonly PodUsage[]): string {
  const claims = new Map<string, VolumeUsage>();
  for (const volume of pods.flatMap(({ volumes }) => volumes)) {
    const key = volume.claim && `${volume.claim.namespace}/${volume.claim.name}`;
    if (key !== undefined && !claims.has(key)) claims.set(key, volume);
  }
  const family = (name: string, help: string, of: (volume: VolumeUsage) => number | undefined): MetricFamily => ({
    name: `kubelet_volume_stats_${name}`,
    help: `[ALPHA] ${help}`,
    type: 'gauge',
    samples: [...claims.values()].map((volume) => ({
      labels: { namespace: volume.claim?.namespace ?? '', persistentvolumeclaim: volume.claim?.name ?? '' },
      value: of(volume) ?? 0,
    })),
  });
  const logs = pods.flatMap(({ uid, namespace, name: pod, containers }) =>
    containers.flatMap(({ name: container, logs }) =>
      logs?.usedBytes === undefined ? [] : [{ labels: { uid, namespace, pod, container }, value: logs.usedBytes }],
    ),
  );
  return exposition([
    family('capacity_bytes', 'Capacity in bytes of the volume', ({ capacityBytes }) => capacityBytes),
    family('available_bytes', 'Number of available bytes in the volume', ({ availableBytes }) => availableBytes),
    family('used_bytes', 'Number of used bytes in the volume', ({ usedBytes }) => usedBytes),
    family('inodes', 'Maximum number of inodes in the volume', ({ inodes }) => inodes),
    family('inodes_free', 'Number of free inodes in the volume', ({ inodesFree }) => inodesFree),
    family('inodes_used', 'Number of used inodes in the volume', ({ inodesUsed }) => inodesUsed),
    {
      name: 'kubelet_container_log_filesystem_used_bytes',
      help: "[ALPHA] Bytes used by the container's logs on the filesystem.",
      type: 'gauge',
      samples: logs,
    },
  ]);
}
