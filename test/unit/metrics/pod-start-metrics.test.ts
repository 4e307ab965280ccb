import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { MetricSet } from '../../../src/metrics/metric-set.ts';
import { podStartMetrics, type PodStartMetrics } from '../../../src/metrics/pod-start-metrics.ts';
import type { Pod, PodStatus } from '../../../src/model/pod.ts';
import { formatTime } from '../../../src/model/time.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

describe('the start of a pod', () => {
  let clock: FakeClock;
  let registry: Registry;
  let metrics: PodStartMetrics;

  beforeEach(() => {
    clock = new FakeClock();
    registry = new Registry();
    metrics = podStartMetrics(new MetricSet(registry), { clock });
  });

  const add = (pod: Pod): void => metrics.declared({ op: 'ADD', source: 'api', pods: [pod] });
  const runs = (pod: Pod, more: Partial<PodStatus> = {}): void => {
    const containerStatuses = pod.spec.containers.map(({ name }) => ({
      name,
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
      state: { running: { startedAt: formatTime(clock.now()) } },
    }));
    metrics.changed({ pod, status: { phase: 'Running', containerStatuses, ...more }, previous: undefined });
  };
  const seconds = async (): Promise<Readonly<Record<string, number>>> => {
    const found = (await registry.metrics()).matchAll(/^kubelet_(.*)_duration_seconds_?(sum)? (\S+)$/gm);
    return Object.fromEntries([...found].map(([, name = '', , value]) => [name, Number(value)]));
  };

  test('is counted from its creation until all containers have started, once, by itself and without pulls that overlap', async () => {
    const two = aPod('p', { containers: [aContainer('a'), aContainer('b')] }, { creationTimestamp: formatTime(clock.now()) });
    const { uid } = two.metadata;
    await clock.advance(1000);
    add(two);
    await clock.advance(4000);
    metrics.imagePulled({ uid, sizeBytes: 1, tookMs: 3000 });
    await clock.advance(1000);
    metrics.imagePulled({ uid, sizeBytes: 1, tookMs: 2000 });
    const [first] = two.spec.containers;
    assert.ok(first);
    runs({ ...two, spec: { ...two.spec, containers: [first] } }, { containerStatuses: [] });
    await clock.advance(2000);
    runs(two);
    await clock.advance(2000);
    runs(two);
    assert.deepEqual(await seconds(), { pod_start_total: 8, pod_start_sli: 4, first_network_pod_start_sli: 4 });
  });

  test('leaves out what init containers ran, and of the first pod on the network no other changes it', async () => {
    const pod = aPod('p');
    add(pod);
    const startedAt = formatTime(clock.now());
    await clock.advance(5000);
    const terminated = { exitCode: 0, startedAt, finishedAt: formatTime(clock.now()) };
    await clock.advance(1000);
    runs(pod, { initContainerStatuses: [{ name: 'i', image: '', imageID: '', ready: true, restartCount: 0, state: { terminated } }] });
    const other = aPod('other', {}, { uid: 'other' as Pod['metadata']['uid'] });
    add(other);
    await clock.advance(3000);
    runs(other);
    assert.deepEqual(await seconds(), { pod_start_total: 9, pod_start_sli: 4, first_network_pod_start_sli: 1 });
  });

  test('that has a volume with data of its own counts in the total alone', async () => {
    const pod = aPod('p', {
      volumes: [
        { name: 'e', emptyDir: {} },
        { name: 'v', hostPath: { path: '/v' } },
      ],
    });
    add(pod);
    await clock.advance(2000);
    runs(pod);
    assert.deepEqual(await seconds(), { pod_start_total: 2, pod_start_sli: 0, first_network_pod_start_sli: 0 });
  });

  const scheduled = { type: 'PodScheduled', status: 'False' };
  for (const [what, begin] of [
    ['had started before it was declared', (pod: Pod) => add({ ...pod, status: { startTime: formatTime(0) } })],
    ['could not be scheduled at once', (pod: Pod) => add({ ...pod, status: { conditions: [scheduled] } })],
    [
      'ran before this agent did',
      (pod: Pod) => {
        const containerStatuses = [
          {
            name: 'app',
            image: '',
            imageID: '',
            ready: true,
            restartCount: 0,
            state: { running: { startedAt: formatTime(clock.now() - 60_000) } },
          },
        ];
        add(pod);
        runs(pod, { containerStatuses });
      },
    ],
    [
      'was removed',
      (pod: Pod) => {
        add(pod);
        metrics.declared({ op: 'REMOVE', source: 'api', pods: [pod] });
      },
    ],
    [
      'has ended',
      (pod: Pod) => {
        add(pod);
        metrics.podEnded({ uid: pod.metadata.uid, freeName: undefined });
      },
    ],
    [
      'failed instead',
      (pod: Pod) => {
        add(pod);
        runs(pod, { phase: 'Failed' });
      },
    ],
  ] as const)
    test(`is not counted of one that ${what}`, async () => {
      const pod = aPod('p');
      begin(pod);
      await clock.advance(2000);
      runs(pod);
      assert.deepEqual(await seconds(), { pod_start_total: 0, pod_start_sli: 0, first_network_pod_start_sli: 0 });
    });
});
