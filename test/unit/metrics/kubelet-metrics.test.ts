import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodUid } from '../../../src/model/pod.ts';
import { kubeletMetrics, type KubeletMetrics } from '../../../src/metrics/kubelet-metrics.ts';
import type { PodSummary } from '../../../src/ports/container-runtime.ts';
import { aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function setUp(): { readonly clock: FakeClock; readonly metrics: KubeletMetrics } {
  const clock = new FakeClock();
  const metrics = kubeletMetrics({ clock, nodeName: 'n1', version: '1.2.3' });
  return { clock, metrics };
}

/** The value of a series, written as in the text: `name{label="value"}`. */
async function value(metrics: KubeletMetrics, series: string, probes = false): Promise<number | undefined> {
  const text = await (probes ? metrics.probeText() : metrics.text());
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

type Happening = (tell: KubeletMetrics['listener']) => void;
const table: readonly (readonly [string, Happening, Readonly<Record<string, number | undefined>>])[] = [
  [
    'the node',
    () => {},
    {
      'kubelet_node_name{node="n1"}': 1,
      kubelet_node_config_error: 0,
      kubelet_pleg_discard_events: 0,
    },
  ],
  [
    'CPUs of their own, and from which NUMA nodes they come',
    (tell) => {
      tell.cpusAsked({ failed: false });
      tell.cpusAsked({ failed: true });
      for (const failed of [false, false, true]) tell.memoryAsked({ failed });
      const exclusive = [
        [0, 2],
        [8, 1],
      ] as const;
      tell.cpusAssigned({ available: 16, exclusive: new Map() });
      tell.cpusAssigned({ available: 13, exclusive: new Map(exclusive) });
      tell.topologyAligned({ tookMs: 0.3, failed: false });
      tell.topologyAligned({ tookMs: 3, failed: true });
    },
    {
      kubelet_cpu_manager_pinning_requests_total: 2,
      kubelet_cpu_manager_pinning_errors_total: 1,
      kubelet_memory_manager_pinning_requests_total: 3,
      kubelet_memory_manager_pinning_errors_total: 1,
      kubelet_cpu_manager_shared_pool_size_millicores: 13_000,
      kubelet_cpu_manager_exclusive_cpu_allocation_count: 3,
      'kubelet_cpu_manager_allocation_per_numa{numa_node="8"}': 1,
      kubelet_topology_manager_admission_requests_total: 2,
      kubelet_topology_manager_admission_errors_total: 1,
      'kubelet_topology_manager_admission_duration_ms_bucket{le="0.4"}': 1,
      kubelet_topology_manager_admission_duration_ms_count: 2,
    },
  ],
  [
    'device plugins, and who asks which pod has what',
    (tell) => {
      for (let n = 0; n < 502; n++) tell.devicePluginRegistered({ resource: `example.com/r${n}` });
      tell.devicePluginRegistered({ resource: 'example.com/r0' });
      tell.devicesAllocated({ resource: 'example.com/r0', tookMs: 30 });
      for (const failed of [false, true]) tell.podResourcesAsked({ version: 'v1', method: 'get', failed });
      tell.podResourcesAsked({ version: 'v1', method: 'getAllocatable', failed: false });
      tell.podResourcesAsked({ version: 'v1alpha1', method: 'list', failed: false });
    },
    {
      'kubelet_device_plugin_registration_total{resource_name="example.com/r0"}': 2,
      'kubelet_device_plugin_registration_total{resource_name="other"}': 2,
      'kubelet_device_plugin_alloc_duration_seconds_bucket{le="0.05",resource_name="example.com/r0"}': 1,
      'kubelet_pod_resources_endpoint_requests_total{server_api_version="v1"}': 3,
      'kubelet_pod_resources_endpoint_requests_total{server_api_version="v1alpha1"}': 1,
      'kubelet_pod_resources_endpoint_requests_get{server_api_version="v1"}': 2,
      'kubelet_pod_resources_endpoint_errors_get{server_api_version="v1"}': 1,
      'kubelet_pod_resources_endpoint_requests_get_allocatable{server_api_version="v1"}': 1,
    },
  ],
  [
    'drivers of claims, whose names and codes are their own',
    (tell) => {
      const call = { driver: 'gpu.org', method: '/v1.DRAPlugin/NodePrepareResources', code: 'OK', tookMs: 160 } as const;
      for (let n = 0; n < 501; n++) tell.draDriverCalled({ ...call, driver: `d${n}.org` });
      for (const code of ['Code(99)', 'Code(100)', 'Aborted'] as const) tell.draDriverCalled({ ...call, driver: 'd0.org', code });
      for (const failed of [false, true, true]) tell.claimsHandled({ operation: 'UnprepareResources', tookMs: 40_000, failed });
    },
    {
      'dra_grpc_operations_duration_seconds_bucket{le="0.153412740463",driver_name="d0.org",method_name="/v1.DRAPlugin/NodePrepareResources",grpc_status_code="OK"}': 0,
      'dra_grpc_operations_duration_seconds_count{driver_name="other",method_name="/v1.DRAPlugin/NodePrepareResources",grpc_status_code="OK"}': 1,
      'dra_grpc_operations_duration_seconds_count{driver_name="d0.org",method_name="/v1.DRAPlugin/NodePrepareResources",grpc_status_code="Unknown"}': 2,
      'dra_grpc_operations_duration_seconds_count{driver_name="d0.org",method_name="/v1.DRAPlugin/NodePrepareResources",grpc_status_code="Aborted"}': 1,
      'dra_operations_duration_seconds_bucket{le="40",operation_name="UnprepareResources",is_error="true"}': 2,
      'dra_operations_duration_seconds_sum{operation_name="UnprepareResources",is_error="false"}': 40,
    },
  ],
  [
    'drivers of volumes, and what is done about these',
    (tell) => {
      const call = { driver: 'csi.org', method: '/csi.v1.Node/NodeStageVolume', code: 'OK', tookMs: 200, isMigrated: true } as const;
      for (const isMigrated of [true, true, false]) tell.csiDriverCalled({ ...call, isMigrated });
      for (let n = 0; n < 500; n++) tell.csiDriverCalled({ ...call, driver: `d${n}.org` });
      const volume = { plugin: 'kubernetes.io/csi:csi.org', tookMs: 200, failed: false };
      for (let n = 0; n < 500; n++) tell.volumeMounted({ ...volume, plugin: `kubernetes.io/csi:d${n}` });
      tell.volumeMounted({ ...volume, plugin: 'kubernetes.io/csi:d0', isDevice: true });
      tell.storageOperated({ ...volume, operation: 'volume_unmount', isMigrated: true });
    },
    {
      'csi_operations_seconds_bucket{le="0.1",driver_name="csi.org",method_name="/csi.v1.Node/NodeStageVolume",grpc_status_code="OK",migrated="true"}': 0,
      'csi_operations_seconds_bucket{le="0.25",driver_name="csi.org",method_name="/csi.v1.Node/NodeStageVolume",grpc_status_code="OK",migrated="true"}': 2,
      'csi_operations_seconds_count{driver_name="csi.org",method_name="/csi.v1.Node/NodeStageVolume",grpc_status_code="OK",migrated="false"}': 1,
      'csi_operations_seconds_count{driver_name="other",method_name="/csi.v1.Node/NodeStageVolume",grpc_status_code="OK",migrated="true"}': 1,
      'storage_operation_duration_seconds_count{volume_plugin="kubernetes.io/csi:d0",operation_name="map_volume",status="success",migrated="false"}': 1,
      'storage_operation_duration_seconds_count{volume_plugin="other",operation_name="volume_unmount",status="success",migrated="true"}': 1,
    },
  ],
  [
    'volumes of real drivers, whatever names pods make up',
    (tell) => {
      for (let n = 0; n < 1_000; n++) tell.volumeMounted({ plugin: `kubernetes.io/csi:made-up-${n}`, tookMs: 1, failed: true });
      for (const failed of [true, false]) tell.volumeMounted({ plugin: 'kubernetes.io/csi:csi.org', tookMs: 200, failed });
    },
    {
      'storage_operation_duration_seconds_count{volume_plugin="kubernetes.io/csi:made-up-99",operation_name="volume_mount",status="fail-unknown",migrated="false"}': 1,
      'storage_operation_duration_seconds_count{volume_plugin="other",operation_name="volume_mount",status="fail-unknown",migrated="false"}': 901,
      'storage_operation_duration_seconds_count{volume_plugin="kubernetes.io/csi:csi.org",operation_name="volume_mount",status="success",migrated="false"}': 1,
    },
  ],
  [
    'credential providers',
    (tell) => {
      tell.credentialProvidersRead({ hash: 'sha256:abc' });
      for (const failed of [false, true]) tell.credentialProviderAsked({ provider: 'ecr', tookMs: 300, failed });
    },
    {
      'kubelet_credential_provider_config_info{hash="sha256:abc"}': 1,
      'kubelet_credential_provider_plugin_errors_total{plugin_name="ecr"}': 1,
      'kubelet_credential_provider_plugin_duration_bucket{le="0.25",plugin_name="ecr"}': 0,
      'kubelet_credential_provider_plugin_duration_bucket{le="0.5",plugin_name="ecr"}': 2,
    },
  ],
  [
    'relists, of which the last one says what runs',
    (tell) => {
      const part = (container: string | undefined, phase: 'running' | 'exited') => ({ id: container ?? 's', container, phase });
      const pod = (parts: PodSummary['parts']): PodSummary => ({ uid: 'u' as PodUid, name: 'p', namespace: 'd', parts });
      tell.relisted({ atMs: 10_500, tookMs: 20, intervalMs: undefined, pods: [pod([part('a', 'exited')])] });
      tell.relisted({
        atMs: 20_900,
        tookMs: 20,
        intervalMs: 10_000,
        pods: [pod([part(undefined, 'running'), part('a', 'running')]), pod([part(undefined, 'exited')])],
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
    'pods that were ended for critical ones',
    (tell) => {
      tell.podPreempted({ uid: 'u' as PodUid, signal: 'memory' });
      tell.podPreempted({ uid: 'v' as PodUid, signal: 'memory' });
    },
    { 'kubelet_preemptions{preemption_signal="memory"}': 2 },
  ],
  [
    'when pods last ended with the machine, in seconds',
    (tell) => tell.nodeShutdown({ startedAtMs: 12_900, endedAtMs: undefined }),
    { kubelet_graceful_shutdown_start_time_seconds: 12, kubelet_graceful_shutdown_end_time_seconds: 0 },
  ],
  [
    'calls of the engine and of the runtime',
    (tell) => {
      tell.engineCalled({ what: 'POST /containers/abc/start', tookMs: 100 });
      tell.engineCalled({ what: 'POST /containers/abc/start', tookMs: 100, failed: 'timeout' });
      tell.runtimeOperated({ operation: 'run_podsandbox', tookMs: 300, failed: true });
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
    (tell) => {
      tell.apiRequested({ method: 'GET', server: 'https://10.0.0.1:6443', status: 200, tookMs: 4 });
      tell.apiRequested({ method: 'PATCH', server: 'https://10.0.0.1:6443', status: undefined, tookMs: 4 });
      tell.apiRequestWaited({ method: 'GET', server: 'https://10.0.0.1:6443', waitedMs: 500 });
    },
    {
      'rest_client_requests_total{code="200",method="GET",host="10.0.0.1:6443"}': 1,
      'rest_client_requests_total{code="<error>",method="PATCH",host="10.0.0.1:6443"}': 1,
      'rest_client_request_duration_seconds_sum{verb="GET",host="10.0.0.1:6443"}': 0.004,
      'rest_client_rate_limiter_duration_seconds_sum{verb="GET",host="10.0.0.1:6443"}': 0.5,
    },
  ],
];

describe('the metrics tell of', () => {
  for (const [what, happen, expected] of table)
    test(what, async () => {
      const { metrics } = setUp();
      happen(metrics.listener);
      const actual = await Promise.all(Object.keys(expected).map(async (series) => [series, await value(metrics, series)]));
      assert.deepEqual(Object.fromEntries(actual), expected);
    });

  test('a queue: what waits, what runs and for how long', async () => {
    const { clock, metrics } = setUp();
    const tell = metrics.listener;
    const queue = 'pods';
    tell.keyReady({ queue, key: 'a' });
    tell.keyReady({ queue, key: 'b' });
    await clock.advance(2000);
    tell.keyStarted({ queue, key: 'a' });
    await clock.advance(5000);
    tell.keyRetried({ queue, key: 'x', inMs: 1 });
    tell.keyReady({ queue: 'others', key: 'a' });
    const read = (name: string) => value(metrics, `workqueue_${name}{name="pods"}`);
    assert.deepEqual(await Promise.all(['depth', 'adds_total', 'retries_total', 'queue_duration_seconds_sum'].map(read)), [1, 2, 1, 2]);
    assert.deepEqual(await Promise.all(['unfinished_work_seconds', 'longest_running_processor_seconds'].map(read)), [5, 5]);
    tell.keyEnded({ queue, key: 'a' });
    assert.deepEqual(await Promise.all(['work_duration_seconds_sum', 'unfinished_work_seconds'].map(read)), [5, 0]);
    assert.equal(await value(metrics, 'workqueue_work_duration_seconds_bucket{le="1e-8",name="pods"}'), 0);
  });

  test("the server's requests, once each however often their end is told", async () => {
    const { clock, metrics } = setUp();
    const tell = metrics.listener;
    const request = { labels: { method: 'GET', path: 'exec', serverType: 'readwrite', longRunning: true } } as const;
    tell.requestBegun(request);
    const labels = 'method="GET",path="exec",server_type="readwrite",long_running="true"';
    assert.equal(await value(metrics, `kubelet_http_inflight_requests{${labels}}`), 1);
    await clock.advance(3000);
    tell.requestEnded(request);
    tell.requestEnded(request);
    assert.equal(await value(metrics, `kubelet_http_inflight_requests{${labels}}`), 0);
    assert.equal(await value(metrics, `kubelet_http_requests_total{${labels}}`), 1);
    assert.equal(await value(metrics, `kubelet_http_requests_duration_seconds_sum{${labels}}`), 3);
  });

  test('certificates: how long they last, and what went wrong', async () => {
    const { clock, metrics } = setUp();
    const ttl = (which: string) => value(metrics, `kubelet_certificate_manager_${which}_ttl_seconds`);
    assert.ok(Number.isNaN(await ttl('client')) || (await ttl('client')) === Number.POSITIVE_INFINITY);
    assert.match(await metrics.text(), /^kubelet_certificate_manager_client_ttl_seconds \+Inf$/m);
    metrics.listener.certificateInUse({ use: 'client', expiresAtMs: 60_000 });
    await clock.advance(90_000);
    assert.equal(await ttl('client'), -30);
    metrics.listener.certificateRenewFailed({ use: 'client' });
    metrics.listener.certificateRenewed({ use: 'server', ageMs: 7_200_000 });
    assert.equal(await value(metrics, 'kubelet_certificate_manager_client_expiration_renew_errors'), 1);
    assert.equal(await value(metrics, 'kubelet_server_expiration_renew_errors'), 0);
    assert.equal(await value(metrics, 'kubelet_certificate_manager_server_rotation_seconds_bucket{le="14400"}'), 1);
  });

  test('probes, apart, until their pod is forgotten', async () => {
    const { metrics } = setUp();
    const tell = metrics.listener;
    const [one, other] = [aPod('p', {}, { uid: 'u' as PodUid }), aPod('p', {}, { uid: 'other' as PodUid })];
    for (const pod of [one, one, other]) tell.probeExecuted({ pod, container: 'c', kind: 'liveness', result: 'successful', tookMs: 40 });
    const series = (uid: string) =>
      `prober_probe_total{probe_type="Liveness",result="successful",container="c",pod="p",namespace="default",pod_uid="${uid}"}`;
    const took = 'prober_probe_duration_seconds_sum{probe_type="Liveness",container="c",pod="p",namespace="default"}';
    tell.probeExecuted({ pod: one, container: 'c', kind: 'liveness', result: 'failed', tookMs: 1000 });
    assert.equal(await value(metrics, took, true), 0.12);
    assert.equal(await value(metrics, series('u'), true), 2);
    assert.equal(await value(metrics, series('u')), undefined);
    tell.podEnded({ uid: one.metadata.uid, freeName: undefined });
    assert.equal(await value(metrics, took, true), undefined);
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
  a.listener.keyRetried({ queue: 'pods', key: 'a', inMs: 1 });
  assert.deepEqual(await Promise.all([a, b].map((each) => value(each, 'workqueue_retries_total{name="pods"}'))), [1, undefined]);
});

test('the text is what Prometheus reads, with the stability that dashboards see at a kubelet', async () => {
  const { metrics } = setUp();
  const text = await metrics.text();
  assert.match(text, /^# HELP kubelet_running_pods \[ALPHA\] Number of pods currently running$/m);
  assert.match(text, /^kubernetes_build_info\{major="1",minor="36",git_version="v1\.36\.2\+rxlet\.1\.2\.3",.*\} 1$/m);
});
