import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { MetricSet } from '../../../src/metrics/metric-set.ts';
import { terminationMetrics } from '../../../src/metrics/termination-metrics.ts';
import type { ContainerStatus, PodStatus } from '../../../src/model/pod.ts';
import type { StatusChange } from '../../../src/ports/pod-statuses.ts';
import { aPod } from '../../builders/a-pod.ts';

type State = NonNullable<ContainerStatus['state']>;

const running: State = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const container = (name: string, state: State): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
});
const ended = (exitCode: number, reason: string): State => ({ terminated: { exitCode, reason } });

function setUp(): { readonly changed: (change: StatusChange) => void; readonly counted: () => Promise<readonly (string | undefined)[]> } {
  const registry = new Registry();
  const changed = terminationMetrics(new MetricSet(registry));
  const counted = async () =>
    [...(await registry.metrics()).matchAll(/^kubelet_terminated_containers_total(\{.*\} \d+)$/gm)].map(([, series]) => series);
  return { changed, counted };
}
const status = (state: State): PodStatus => ({ containerStatuses: [container('app', state)] });

test('a container’s end is counted once, and again after it has run again', async () => {
  const { changed, counted } = setUp();
  const pod = aPod('p');
  changed({ pod, status: status(running), previous: undefined });
  changed({ pod, status: status(ended(139, 'Error')), previous: status(running) });
  changed({ pod, status: status(ended(139, 'Error')), previous: status(ended(139, 'Error')) });
  changed({ pod, status: status(ended(139, 'Error')), previous: status(running) });
  assert.deepEqual(await counted(), ['{container_type="container",exit_code="139",reason="Error"} 2']);
});

test('what the API server showed as ended before the agent started is not counted', async () => {
  const { changed, counted } = setUp();
  changed({ pod: { ...aPod('p'), status: status(ended(1, 'Error')) }, status: status(ended(1, 'Error')), previous: undefined });
  assert.deepEqual(await counted(), []);
});

test('each kind of container counts apart', async () => {
  const { changed, counted } = setUp();
  const of = (reason: string) => [container('same', ended(0, reason))];
  const all = { initContainerStatuses: of('Completed'), containerStatuses: of('OOMKilled'), ephemeralContainerStatuses: of('Error') };
  changed({ pod: aPod('p'), status: all, previous: undefined });
  assert.deepEqual(await counted(), [
    '{container_type="init_container",exit_code="0",reason="Completed"} 1',
    '{container_type="container",exit_code="0",reason="OOMKilled"} 1',
    '{container_type="ephemeral_container",exit_code="0",reason="Error"} 1',
  ]);
});
