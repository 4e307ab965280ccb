import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** Seconds. */
const buckets = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;
/** What an image of more bytes is counted as: the largest that it exceeds. */
const sizes: readonly (readonly [moreThan: number, label: string])[] = [
  [100 * GiB, 'GT100GB'],
  [60 * GiB, '60GB-100GB'],
  [40 * GiB, '40GB-60GB'],
  [30 * GiB, '30GB-40GB'],
  [20 * GiB, '20GB-30GB'],
  [10 * GiB, '10GB-20GB'],
  [5 * GiB, '5GB-10GB'],
  [GiB, '1GB-5GB'],
  [500 * MiB, '500MB-1GB'],
  [100 * MiB, '100MB-500MB'],
  [10 * MiB, '10MB-100MB'],
  [0, '0-10MB'],
];

type Heard = Pick<Happenings, 'imagePulled' | 'imageRemoved' | 'imageChecked' | 'imageEnsured' | 'imageVolumesShown'>;

/**
 * How long pulls take, the wait for others included, by the size of the image, images that were removed (pkg/kubelet/metrics/metrics.go), and
 * whether those that are here may be used (pkg/kubelet/images), and those that containers mount.
 */
export function imageMetrics(set: MetricSet): Heard {
  const pulls = set.histogram(
    'kubelet_image_pull_duration_seconds',
    'Duration in seconds to pull an image.',
    ['image_size_in_bytes'],
    buckets,
  );
  const removed = set.counter('kubelet_image_garbage_collected_total', 'Total number of images garbage collected by the kubelet.', [
    'reason',
  ]);
  const checks = set.counter(
    'kubelet_imagemanager_image_mustpull_checks_total',
    'Counter for how many times kubelet checked whether credentials need to be re-verified to access an image',
    ['result'],
  );
  const ensured = set.counter(
    'kubelet_image_manager_ensure_image_requests_total',
    'Number of ensure-image requests processed by the kubelet.',
    ['pull_policy', 'present_locally', 'pull_required'],
  );
  return {
    ...imageVolumes(set),
    imageEnsured: ({ policy = '', isPresent = 'unknown', isPullRequired = 'unknown' }) =>
      ensured.inc({
        pull_policy: policies.has(policy) ? policy.toLowerCase() : '',
        present_locally: String(isPresent),
        pull_required: String(isPullRequired),
      }),
    imagePulled: ({ sizeBytes, tookMs }) => pulls.observe({ image_size_in_bytes: imageSizeLabel(sizeBytes) }, tookMs / 1000),
    imageRemoved: ({ reason }) => removed.inc({ reason }),
    imageChecked: (result) => checks.inc({ result }),
  };
}

const policies: ReadonlySet<string> = new Set(['Always', 'IfNotPresent', 'Never']);

function imageVolumes(set: MetricSet): Pick<Heard, 'imageVolumesShown'> {
  const requested = set.counter('kubelet_image_volume_requested_total', 'Number of requested image volumes.', [], 'BETA');
  const mounted = set.counter('kubelet_image_volume_mounted_succeed_total', 'Number of successful image volume mounts.', [], 'BETA');
  const errors = set.counter('kubelet_image_volume_mounted_errors_total', 'Number of failed image volume mounts.', [], 'BETA');
  return {
    imageVolumesShown: ({ volumes, mounts, failed }) => {
      requested.inc(volumes);
      (failed ? errors : mounted).inc(mounts);
    },
  };
}

/** The label for an image of this size; 0: the engine does not say (GetImageSizeBucket). */
export function imageSizeLabel(bytes: number): string {
  return sizes.find(([moreThan]) => bytes > moreThan)?.[1] ?? 'N/A';
}
