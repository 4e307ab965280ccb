import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { imageMetrics, imageSizeLabel } from '../../../src/metrics/image-metrics.ts';
import { MetricSet } from '../../../src/metrics/metric-set.ts';
import type { PodUid } from '../../../src/model/pod.ts';

test('an image is counted by the largest size that it exceeds', () => {
  const MiB = 1024 ** 2;
  const sizes = [0, 1, 10 * MiB, 10 * MiB + 1, 200 * MiB, 501 * MiB, 15 * 1024 * MiB, 200 * 1024 * MiB];
  assert.deepEqual(sizes.map(imageSizeLabel), [
    'N/A',
    '0-10MB',
    '0-10MB',
    '10MB-100MB',
    '100MB-500MB',
    '500MB-1GB',
    '10GB-20GB',
    'GT100GB',
  ]);
});

test('removals are counted by their reason', async () => {
  const registry = new Registry();
  const { imageRemoved } = imageMetrics(new MetricSet(registry));
  imageRemoved({ sizeBytes: 1, reason: 'space' });
  imageRemoved({ sizeBytes: 1, reason: 'space' });
  imageRemoved({ sizeBytes: 1, reason: 'age' });
  const text = await registry.metrics();
  assert.match(text, /^kubelet_image_garbage_collected_total\{reason="space"\} 2$/m);
  assert.match(text, /^kubelet_image_garbage_collected_total\{reason="age"\} 1$/m);
});

test('pulls are counted with what they took', async () => {
  const registry = new Registry();
  imageMetrics(new MetricSet(registry)).imagePulled({ uid: 'u' as PodUid, sizeBytes: 5 * 1024 ** 2, tookMs: 10_500 });
  const text = await registry.metrics();
  assert.match(text, /^kubelet_image_pull_duration_seconds_bucket\{le="10",image_size_in_bytes="0-10MB"\} 0$/m);
  assert.match(text, /^kubelet_image_pull_duration_seconds_sum\{image_size_in_bytes="0-10MB"\} 10\.5$/m);
});

test('checks of images that are here are counted by their result', async () => {
  const registry = new Registry();
  const { imageChecked } = imageMetrics(new MetricSet(registry));
  imageChecked('credentialRecordFound');
  imageChecked('mustAuthenticate');
  imageChecked('mustAuthenticate');
  const text = await registry.metrics();
  assert.match(text, /^kubelet_imagemanager_image_mustpull_checks_total\{result="credentialRecordFound"\} 1$/m);
  assert.match(text, /^kubelet_imagemanager_image_mustpull_checks_total\{result="mustAuthenticate"\} 2$/m);
});

test('images that were to be made present are counted by what was found, and those that containers mount', async () => {
  const registry = new Registry();
  const { imageEnsured, imageVolumesShown } = imageMetrics(new MetricSet(registry));
  imageEnsured({ policy: 'IfNotPresent', isPresent: true, isPullRequired: false });
  imageEnsured({ policy: 'Always', isPullRequired: true });
  imageEnsured({ policy: undefined });
  for (const failed of [false, true, false]) imageVolumesShown({ volumes: 2, mounts: 3, failed });
  const text = await registry.metrics();
  for (const [labels, value] of [
    ['pull_policy="ifnotpresent",present_locally="true",pull_required="false"', 1],
    ['pull_policy="always",present_locally="unknown",pull_required="true"', 1],
    ['pull_policy="",present_locally="unknown",pull_required="unknown"', 1],
  ] as const)
    assert.ok(text.includes(`kubelet_image_manager_ensure_image_requests_total{${labels}} ${value}\n`), labels);
  assert.match(text, /^# HELP kubelet_image_volume_requested_total \[BETA\] Number of requested image volumes\.$/m);
  assert.match(text, /^kubelet_image_volume_requested_total 6$/m);
  assert.match(text, /^kubelet_image_volume_mounted_succeed_total 6$/m);
  assert.match(text, /^kubelet_image_volume_mounted_errors_total 3$/m);
});
