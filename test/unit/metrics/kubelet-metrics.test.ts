import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodUid } from '../../../src/model/pod.ts';
import { kubeletMetrics, type KubeletMetrics } from '../../../src/metrics/kubelet-metrics.ts';
import type { PodSummary } from '../../../src/ports/container-runtime.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function setUp(): { readonly clock: FakeClock; readonly metrics: KubeletMetrics } {
  const clock = new FakeClock();
  const metrics = kubeletMetrics({
    clock,
    nodeName: 'n1',
    version: '1.2.3',
    volumes: () => [{ plugin: 'kubernetes.io/empty-dir', state: 'actual_state_of_world', count: 3 }],
  });
  return { clock, metrics };
}

/** The value of a series, written as in the text: `name{label="value"}`. */
async function value(metrics: KubeletMetrics, series: string, probes = false): Promise<number | undefined> {
  const text = await (probes ? metrics.probeText() : metrics.text());
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

type Happening = (metrics: KubeletMetrics, clock: FakeClock) => void;
const table: readonly (readonly [string, Happening, Readonly<Record<string, number | undefined>>])[] = [
  [
    'the node',
    () => {},
    {
      'kubelet_node_name{node="n1"}': 1,
      kubelet_node_config_error: 0,
      'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"}': 3,
      kubelet_pleg_discard_events: 0,
    },
  ],
  [
    'pods that start',
    (metrics) => {
      metrics.podWorkerStarted(0.2);
      metrics.podStarted(3);
      metrics.podWorked('create', 0.7);
      metrics.podAdded(2);
      metrics.sandboxStarted(0.3, false);
      metrics.sandboxStarted(0.3, true);
      metrics.containerStarted('init_container', false);
      metrics.containerStarted('container', true);
    },
    {
      kubelet_pod_worker_start_duration_seconds_sum: 0.2,
      'kubelet_pod_start_duration_seconds_bucket{le="2.5"}': 0,
      'kubelet_pod_start_duration_seconds_bucket{le="5"}': 1,
      'kubelet_pod_worker_duration_seconds_sum{operation_type="create"}': 0.7,
      kubelet_containers_per_pod_count_sum: 2,
      kubelet_started_pods_total: 2,
      kubelet_started_pods_errors_total: 1,
      'kubelet_run_podsandbox_errors_total{runtime_handler=""}': 1,
      'kubelet_started_containers_total{container_type="init_container"}': 1,
      'kubelet_started_containers_errors_total{container_type="container"}': 1,
      'kubelet_started_containers_errors_total{container_type="init_container"}': undefined,
    },
  ],
  [
    'relists, of which the last one says what runs',
    (metrics) => {
      const part = (container: string, phase: 'running' | 'exited') => ({ id: container, container, phase });
      const pod = (parts: PodSummary['parts']): PodSummary => ({ uid: 'u' as PodUid, name: 'p', namespace: 'd', parts });
      metrics.relisted({ atMs: 10_500, tookMs: 20, pods: [pod([part('a', 'exited')])] });
      metrics.relisted({
        atMs: 20_900,
        tookMs: 20,
        intervalMs: 10_000,
        pods: [pod([part('POD', 'running'), part('a', 'running')]), pod([part('POD', 'exited')])],
      });
    },
    {
      kubelet_pleg_relist_duration_seconds_count: 2,
      kubelet_pleg_relist_interval_seconds_sum: 10,
      kubelet_pleg_last_seen_seconds: 20,
      kubelet_running_pods: 1,
      'kubelet_running_containers{container_state="running"}': 1,
      'kubelet_running_containers{container_state="exited"}': undefined,
    },
  ],
  [
    'calls of the engine and of the runtime',
    (metrics) => {
      metrics.engineCalled({ what: 'POST /containers/abc/start', tookMs: 100 });
      metrics.engineCalled({ what: 'POST /containers/abc/start', tookMs: 100, failed: 'timeout' });
      metrics.runtimeOperation('run_podsandbox', 0.3, true);
    },
    {
      'kubelet_docker_operations_total{operation_type="start_container"}': 2,
      'kubelet_docker_operations_timeout_total{operation_type="start_container"}': 1,
      'kubelet_docker_operations_errors_total{operation_type="start_container"}': undefined,
      'kubelet_docker_operations_duration_seconds_sum{operation_type="start_container"}': 0.2,
      'kubelet_runtime_operations_total{operation_type="run_podsandbox"}': 1,
      'kubelet_runtime_operations_errors_total{operation_type="run_podsandbox"}': 1,
      'kubelet_runtime_operations_duration_seconds_bucket{le="0.1953125",operation_type="run_podsandbox"}': 0,
      'kubelet_runtime_operations_duration_seconds_bucket{le="0.48828125",operation_type="run_podsandbox"}': 1,
    },
  ],
  [
    'requests to the API server',
    (metrics) => {
      metrics.api.requested({ method: 'GET', server: 'https://10.0.0.1:6443', status: 200, tookMs: 4 });
      metrics.api.requested({ method: 'PATCH', server: 'https://10.0.0.1:6443', status: undefined, tookMs: 4 });
      metrics.api.waited('GET', 'https://10.0.0.1:6443', 500);
    },
    {
      'rest_client_requests_total{code="200",method="GET",host="10.0.0.1:6443"}': 1,
      'rest_client_requests_total{code="<error>",method="PATCH",host="10.0.0.1:6443"}': 1,
      'rest_client_request_duration_seconds_sum{verb="GET",url="https://10.0.0.1:6443/%7Bprefix%7D"}': 0.004,
      'rest_client_rate_limiter_duration_seconds_sum{verb="GET",url="https://10.0.0.1:6443/%7Bprefix%7D"}': 0.5,
    },
  ],
  [
    'evictions and preemptions',
    (metrics) => {
      metrics.evicted('memory.available');
      metrics.preempted('cpu');
    },
    { 'kubelet_evictions{eviction_signal="memory.available"}': 1, 'kubelet_preemptions{preemption_signal="cpu"}': 1 },
  ],
];

describe('the metrics tell of', () => {
  for (const [what, happen, expected] of table)
    test(what, async () => {
      const { clock, metrics } = setUp();
      happen(metrics, clock);
      const actual = await Promise.all(Object.keys(expected).map(async (series) => [series, await value(metrics, series)]));
      assert.deepEqual(Object.fromEntries(actual), expected);
    });

  test('a queue: what waits, what runs and for how long', async () => {
    const { clock, metrics } = setUp();
    const queue = metrics.workQueue<string>('pods');
    queue.ready('a');
    queue.ready('b');
    await clock.advance(2000);
    queue.started('a');
    await clock.advance(5000);
    queue.retried('x');
    const read = (name: string) => value(metrics, `workqueue_${name}{name="pods"}`);
    assert.deepEqual(await Promise.all(['depth', 'adds_total', 'retries_total', 'queue_duration_seconds_sum'].map(read)), [1, 2, 1, 2]);
    assert.deepEqual(await Promise.all(['unfinished_work_seconds', 'longest_running_processor_seconds'].map(read)), [5, 5]);
    queue.ended('a');
    assert.deepEqual(await Promise.all(['work_duration_seconds_sum', 'unfinished_work_seconds'].map(read)), [5, 0]);
    assert.equal(await value(metrics, 'workqueue_work_duration_seconds_bucket{le="1e-8",name="pods"}'), 0);
  });

  test("the server's requests, once each however often their end is told", async () => {
    const { clock, metrics } = setUp();
    const end = metrics.requestBegun({ method: 'GET', path: 'exec', serverType: 'readwrite', longRunning: true });
    const labels = 'method="GET",path="exec",server_type="readwrite",long_running="true"';
    assert.equal(await value(metrics, `kubelet_http_inflight_requests{${labels}}`), 1);
    await clock.advance(3000);
    end();
    end();
    assert.equal(await value(metrics, `kubelet_http_inflight_requests{${labels}}`), 0);
    assert.equal(await value(metrics, `kubelet_http_requests_total{${labels}}`), 1);
    assert.equal(await value(metrics, `kubelet_http_requests_duration_seconds_sum{${labels}}`), 3);
  });

  test('certificates: how long they last, and what went wrong', async () => {
    const { clock, metrics } = setUp();
    const ttl = (which: string) => value(metrics, `kubelet_certificate_manager_${which}_ttl_seconds`);
    assert.ok(Number.isNaN(await ttl('client')) || (await ttl('client')) === Number.POSITIVE_INFINITY);
    assert.match(await metrics.text(), /^kubelet_certificate_manager_client_ttl_seconds \+Inf$/m);
    metrics.certificateExpires('client', 60_000);
    await clock.advance(90_000);
    assert.equal(await ttl('client'), -30);
    metrics.certificateRenewFailed('client');
    metrics.certificateRotated('server', 7200);
    assert.equal(await value(metrics, 'kubelet_certificate_manager_client_expiration_renew_errors'), 1);
    assert.equal(await value(metrics, 'kubelet_server_expiration_renew_errors'), 0);
    assert.equal(await value(metrics, 'kubelet_certificate_manager_server_rotation_seconds_bucket{le="14400"}'), 1);
  });

  test('probes, apart, until their pod is forgotten', async () => {
    const { metrics } = setUp();
    const labels = { type: 'Liveness', result: 'successful', container: 'c', pod: 'p', namespace: 'd', uid: 'u' } as const;
    metrics.probed(labels);
    metrics.probed(labels);
    metrics.probed({ ...labels, uid: 'other' });
    const series = (uid: string) =>
      `prober_probe_total{probe_type="Liveness",result="successful",container="c",pod="p",namespace="d",pod_uid="${uid}"}`;
    assert.equal(await value(metrics, series('u'), true), 2);
    assert.equal(await value(metrics, series('u')), undefined);
    metrics.podForgotten('u');
    assert.deepEqual([await value(metrics, series('u'), true), await value(metrics, series('other'), true)], [undefined, 1]);
  });

  test('the process, read when somebody asks and with no timer of its own', async () => {
    const before = process.getActiveResourcesInfo().filter((each) => each !== 'TTYWrap').length;
    const { metrics } = setUp();
    assert.ok(process.getActiveResourcesInfo().filter((each) => each !== 'TTYWrap').length <= before);
    const read = async (name: string): Promise<number> => (await value(metrics, name)) ?? Number.NaN;
    assert.ok((await read('process_resident_memory_bytes')) > 1e6);
    assert.ok((await read('process_virtual_memory_bytes')) > 1e6);
    assert.ok((await read('process_open_fds')) > 2);
    assert.ok((await read('process_max_fds')) > 2);
    assert.ok((await read('nodejs_heap_size_used_bytes')) > 1e6);
    const cpu = await read('process_cpu_seconds_total');
    assert.ok(cpu > 0 && cpu < 3600 && (await read('process_cpu_seconds_total')) >= cpu);
  });
});

test('two agents in one process share nothing', async () => {
  const [a, b] = [setUp().metrics, setUp().metrics];
  a.podStarted(1);
  assert.deepEqual(await Promise.all([a, b].map((each) => value(each, 'kubelet_pod_start_duration_seconds_count'))), [1, 0]);
});

test('the text is what Prometheus reads, with the stability that dashboards see at a kubelet', async () => {
  const { metrics } = setUp();
  const text = await metrics.text();
  assert.match(text, /^# HELP kubelet_running_pods \[ALPHA\] Number of pods currently running$/m);
  assert.match(text, /^kubernetes_build_info\{major="1",minor="2",git_version="v1\.2\.3",.*\} 1$/m);
});
