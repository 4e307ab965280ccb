import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { MetricSet } from '../../../src/metrics/metric-set.ts';
import { type PodMetrics, podMetrics } from '../../../src/metrics/pod-metrics.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { ReconcileRecord } from '../../../src/ports/pod-plan.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const base: ReconcileRecord = {
  uid: 'u' as PodUid,
  pod: 'd/p',
  atMs: 1000,
  wakes: ['pod added'],
  life: 'syncing',
  plan: { actions: [], next: 'on-change', because: [] },
  outcomes: [],
  failed: undefined,
  unobserved: false,
  observeMs: 1,
  totalMs: 500,
  phase: 'Pending',
  next: { afterMs: 1000 },
};

function setUp(): { readonly metrics: PodMetrics; readonly counted: () => Promise<Readonly<Record<string, number>>> } {
  const registry = new Registry();
  const metrics = podMetrics(new MetricSet(registry));
  const shown = /^kubelet_(?!.*(?:_bucket|_created)[{ ])(\S+) (\S+)$/gm;
  const counted = async () => {
    const series = [...(await registry.metrics()).matchAll(shown)].map(([, name = '', value]) => [name, Number(value)] as const);
    return Object.fromEntries(series.filter(([, value]) => value !== 0));
  };
  return { metrics, counted };
}

describe('reconcile records', () => {
  test('tell a pod’s way from its first run to Running', async () => {
    const { metrics, counted } = setUp();
    const sandbox = { action: { do: 'runSandbox', attempt: 0 }, tookMs: 200 } as const;
    const app = { action: { do: 'startContainer', name: 'app', attempt: 0, init: false }, tookMs: 100, error: 'no image' } as const;
    const first = { action: { do: 'startContainer', name: 'first', attempt: 0, init: true }, tookMs: 100 } as const;
    metrics.reconciled(base);
    metrics.reconciled({ ...base, atMs: 1700, wakes: ['engine event'], outcomes: [sandbox, first, app] });
    metrics.reconciled({ ...base, atMs: 3000, wakes: ['pod updated'], phase: 'Running' });
    metrics.reconciled({ ...base, atMs: 9000, wakes: ['relist'], phase: 'Running' });
    assert.deepEqual(await counted(), {
      'pod_worker_duration_seconds_sum{operation_type="create"}': 0.5,
      'pod_worker_duration_seconds_count{operation_type="create"}': 1,
      'pod_worker_duration_seconds_sum{operation_type="sync"}': 1,
      'pod_worker_duration_seconds_count{operation_type="sync"}': 2,
      'pod_worker_duration_seconds_sum{operation_type="update"}': 0.5,
      'pod_worker_duration_seconds_count{operation_type="update"}': 1,
      pod_worker_start_duration_seconds_sum: 0.7,
      pod_worker_start_duration_seconds_count: 1,
      pod_start_duration_seconds_sum: 2.5,
      pod_start_duration_seconds_count: 1,
      started_pods_total: 1,
      'started_containers_total{container_type="init_container"}': 1,
      'started_containers_total{container_type="container"}': 1,
      'started_containers_errors_total{container_type="container"}': 1,
      'run_podsandbox_duration_seconds_sum{runtime_handler=""}': 0.2,
      'run_podsandbox_duration_seconds_count{runtime_handler=""}': 1,
    });
  });

  test('of a sandbox that did not start count an error', async () => {
    const { metrics, counted } = setUp();
    metrics.reconciled({ ...base, outcomes: [{ action: { do: 'runSandbox', attempt: 1 }, tookMs: 200, error: 'no network' }] });
    const { started_pods_errors_total: pods, 'run_podsandbox_errors_total{runtime_handler=""}': sandboxes } = await counted();
    assert.deepEqual([pods, sandboxes], [1, 1]);
  });

  test('of a pod that ran before the agent did tell no start', async () => {
    const { metrics, counted } = setUp();
    metrics.reconciled({ ...base, phase: 'Running' });
    assert.deepEqual(Object.keys(await counted()), [
      'pod_worker_duration_seconds_sum{operation_type="create"}',
      'pod_worker_duration_seconds_count{operation_type="create"}',
    ]);
  });

  test('of a pod that has ended let it be new the next time', async () => {
    const { metrics, counted } = setUp();
    metrics.reconciled(base);
    metrics.reconciled({ ...base, life: 'terminating', next: 'on-change' });
    metrics.reconciled(base);
    const series = await counted();
    assert.equal(series['pod_worker_duration_seconds_count{operation_type="create"}'], 2);
    assert.equal(series['pod_worker_duration_seconds_count{operation_type="kill"}'], 1);
  });
});

test('pods are counted with their containers when they are declared for the first time', async () => {
  const { metrics, counted } = setUp();
  const two = aPod('two', { containers: [aContainer('a'), aContainer('b')] });
  metrics.declared({ op: 'ADD', source: 'api', pods: [two, aPod('one')] });
  metrics.declared({ op: 'UPDATE', source: 'api', pods: [two] });
  metrics.declared({ op: 'REMOVE', source: 'api', pods: [two] });
  const { containers_per_pod_count_sum: containers, containers_per_pod_count_count: pods } = await counted();
  assert.deepEqual([containers, pods], [3, 2]);
});

test('sandboxes of pods with ids of their own are counted apart, and whether something of that look failed', async () => {
  const { metrics, counted } = setUp();
  const pods = [
    aPod('own', { hostUsers: false }, { uid: 'own' as PodUid }),
    aPod('hosts', { hostUsers: true }, { uid: 'hosts' as PodUid }),
  ];
  metrics.declared({ op: 'ADD', source: 'api', pods });
  const sandbox = { action: { do: 'runSandbox', attempt: 0 }, tookMs: 200 } as const;
  const app = { action: { do: 'startContainer', name: 'app', attempt: 0, init: false }, tookMs: 100, error: 'no id is left' } as const;
  for (const uid of ['own', 'hosts', 'another'] as PodUid[]) {
    metrics.reconciled({ ...base, uid, outcomes: [sandbox, app] });
    metrics.reconciled({ ...base, uid, outcomes: [sandbox] });
    metrics.reconciled({ ...base, uid, outcomes: [app] });
  }
  const series = await counted();
  assert.deepEqual([series['started_user_namespaced_pods_total'], series['started_user_namespaced_pods_errors_total']], [2, 1]);
  metrics.declared({ op: 'REMOVE', source: 'api', pods });
  metrics.reconciled({ ...base, uid: 'own' as PodUid, outcomes: [sandbox] });
  assert.equal((await counted())['started_user_namespaced_pods_total'], 2);
});
