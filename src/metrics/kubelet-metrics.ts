import { type Counter, Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { ApiObserver, OnEngineCall, OnRelist, WorkQueueObserver } from '../ports/observers.ts';
import type { RequestMeter } from '../ports/request-meter.ts';
import { apiMetrics } from './api-metrics.ts';
import { certificateMetrics, type CertificateMetrics } from './certificate-metrics.ts';
import { engineOperation } from './engine-operation.ts';
import { exponentialBuckets, MetricSet } from './metric-set.ts';
import { plegMetrics } from './pleg-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import type { OnOperation } from './runtime-operations.ts';
import { serverMetrics } from './server-metrics.ts';
import { workQueueMetrics } from './work-queue-metrics.ts';

export interface KubeletMetricsOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly nodeName: string;
  /** "0.1.0" */
  readonly version: string;
  /** Volumes as the agent knows them, asked at each scrape. */
  readonly volumes?: () => readonly { readonly plugin: string; readonly state: string; readonly count: number }[];
}

export interface ProbeLabels {
  readonly type: 'Liveness' | 'Readiness' | 'Startup';
  readonly result: 'successful' | 'failed' | 'unknown';
  readonly container: string;
  readonly pod: string;
  readonly namespace: string;
  readonly uid: string;
}

/** What the agent tells of itself, under the kubelet's names (pkg/kubelet/metrics/metrics.go), each method for one thing that happens. Nothing runs between scrapes. */
export interface KubeletMetrics extends CertificateMetrics {
  /** What /metrics answers. */
  text(): Promise<string>;
  /** What /metrics/probes answers. */
  probeText(): Promise<string>;

  /** From seeing a pod to its first sandbox. */
  podWorkerStarted(seconds: number): void;
  /** From seeing a pod to its being Running. */
  podStarted(seconds: number): void;
  podWorked(operation: 'create' | 'update' | 'sync' | 'kill', seconds: number): void;
  podAdded(containers: number): void;
  sandboxStarted(seconds: number, failed: boolean): void;
  containerStarted(type: 'container' | 'init_container', failed: boolean): void;
  readonly relisted: OnRelist;
  readonly engineCalled: OnEngineCall;
  readonly runtimeOperation: OnOperation;
  readonly api: ApiObserver;
  workQueue<K>(name: string): WorkQueueObserver<K>;
  evicted(signal: string): void;
  preempted(signal: string): void;
  probed(labels: ProbeLabels): void;
  /** Its probes are no longer told of. */
  podForgotten(uid: string): void;
  /** Returns what to call when the request has been served. */
  readonly requestBegun: RequestMeter['begin'];
}

const OPERATION = ['operation_type'] as const;

/** Registers everything in registries of its own. */
export function kubeletMetrics({ clock, nodeName, version, volumes }: KubeletMetricsOptions): KubeletMetrics {
  const monotonicMs = (): number => clock.monotonicMs();
  const nowMs = (): number => clock.now();
  const registry = new Registry();
  const set = new MetricSet(registry);
  const probes = new MetricSet(new Registry());

  set.gauge('kubelet_node_name', "The node's name. The count is always 1.", ['node']).set({ node: nodeName }, 1);
  set.gauge(
    'kubelet_node_config_error',
    'This metric is true (1) if the node is experiencing a configuration-related error, false (0) otherwise.',
  );
  set
    .gauge(
      'kubernetes_build_info',
      "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
      ['major', 'minor', 'git_version', 'git_commit', 'git_tree_state', 'build_date', 'go_version', 'compiler', 'platform'],
    )
    .set(buildInfo(version), 1);
  set.gauge('volume_manager_total_volumes', 'Number of volumes in Volume Manager', ['plugin_name', 'state'], (gauge) => {
    gauge.reset();
    for (const { plugin, state, count } of volumes?.() ?? []) gauge.set({ plugin_name: plugin, state }, count);
  });

  const podWorker = set.histogram(
    'kubelet_pod_worker_duration_seconds',
    'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
    OPERATION,
  );
  const podWorkerStart = set.histogram(
    'kubelet_pod_worker_start_duration_seconds',
    'Duration in seconds from seeing a pod to starting a worker.',
  );
  const podStart = set.histogram(
    'kubelet_pod_start_duration_seconds',
    'Duration in seconds for a single pod to go from pending to running.',
  );
  const containersPerPod = set.histogram('kubelet_containers_per_pod_count', 'The number of containers per pod.');
  const startedPods = set.counter('kubelet_started_pods_total', 'Cumulative number of pods started');
  const startedPodErrors = set.counter('kubelet_started_pods_errors_total', 'Cumulative number of errors when starting pods');
  const startedContainers = set.counter('kubelet_started_containers_total', 'Cumulative number of containers started', ['container_type']);
  const startedContainerErrors = set.counter(
    'kubelet_started_containers_errors_total',
    'Cumulative number of errors when starting containers',
    ['container_type'],
  );
  const sandboxes = set.histogram(
    'kubelet_run_podsandbox_duration_seconds',
    'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
    ['runtime_handler'],
  );
  const sandboxErrors = set.counter(
    'kubelet_run_podsandbox_errors_total',
    'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
    ['runtime_handler'],
  );
  const evictions = set.counter('kubelet_evictions', 'Cumulative number of pod evictions by eviction signal', ['eviction_signal']);
  const preemptions = set.counter('kubelet_preemptions', 'Cumulative number of pod preemptions by preemption resource', [
    'preemption_signal',
  ]);
  const probed = probes.counter(
    'prober_probe_total',
    'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
  );
  const probedPods = new Map<string, Map<string, Record<ProbeLabel, string>>>();
  const runtime = runtimeOperations(set);
  const workQueues = workQueueMetrics(set, monotonicMs);
  const server = serverMetrics(set, monotonicMs);
  processMetrics(registry, { nowMs });

  return {
    text: () => registry.metrics(),
    probeText: () => probes.registry.metrics(),
    podWorkerStarted: (seconds) => podWorkerStart.observe(seconds),
    podStarted: (seconds) => podStart.observe(seconds),
    podWorked: (operation_type, seconds) => podWorker.observe({ operation_type }, seconds),
    podAdded: (containers) => containersPerPod.observe(containers),
    sandboxStarted: (seconds, failed) => {
      sandboxes.observe({ runtime_handler: '' }, seconds);
      startedPods.inc();
      if (!failed) return;
      startedPodErrors.inc();
      sandboxErrors.inc({ runtime_handler: '' });
    },
    containerStarted: (container_type, failed) => {
      startedContainers.inc({ container_type });
      if (failed) startedContainerErrors.inc({ container_type });
    },
    relisted: plegMetrics(set),
    engineCalled: engineCalls(set),
    runtimeOperation: runtime,
    api: apiMetrics(set),
    workQueue: workQueues,
    evicted: (eviction_signal) => evictions.inc({ eviction_signal }),
    preempted: (preemption_signal) => preemptions.inc({ preemption_signal }),
    probed: ({ type: probe_type, result, container, pod, namespace, uid: pod_uid }) => {
      const labels = { probe_type, result, container, pod, namespace, pod_uid };
      probed.inc(labels);
      const told = probedPods.get(pod_uid) ?? new Map<string, typeof labels>();
      told.set(`${probe_type}/${result}/${container}`, labels);
      probedPods.set(pod_uid, told);
    },
    podForgotten: (uid) => {
      for (const labels of probedPods.get(uid)?.values() ?? []) probed.remove(labels);
      probedPods.delete(uid);
    },
    requestBegun: server,
    ...certificateMetrics(set, nowMs),
  };
}

type ProbeLabel = 'probe_type' | 'result' | 'container' | 'pod' | 'namespace' | 'pod_uid';

function runtimeOperations(set: MetricSet): KubeletMetrics['runtimeOperation'] {
  const total = set.counter('kubelet_runtime_operations_total', 'Cumulative number of runtime operations by operation type.', OPERATION);
  const errors = set.counter(
    'kubelet_runtime_operations_errors_total',
    'Cumulative number of runtime operation errors by operation type.',
    OPERATION,
  );
  const seconds = set.histogram(
    'kubelet_runtime_operations_duration_seconds',
    'Duration in seconds of runtime operations. Broken down by operation type.',
    OPERATION,
    exponentialBuckets(0.005, 2.5, 14),
  );
  return (operation_type, took, failed) => {
    total.inc({ operation_type });
    seconds.observe({ operation_type }, took);
    if (failed) errors.inc({ operation_type });
  };
}

function engineCalls(set: MetricSet): OnEngineCall {
  const total = set.counter('kubelet_docker_operations_total', 'Cumulative number of Docker operations by operation type.', OPERATION);
  const seconds = set.histogram(
    'kubelet_docker_operations_duration_seconds',
    'Latency in seconds of Docker operations. Broken down by operation type.',
    OPERATION,
  );
  const failures: Readonly<Record<'error' | 'timeout', Counter<'operation_type'>>> = {
    error: set.counter(
      'kubelet_docker_operations_errors_total',
      'Cumulative number of Docker operation errors by operation type.',
      OPERATION,
    ),
    timeout: set.counter(
      'kubelet_docker_operations_timeout_total',
      'Cumulative number of Docker operation timeout by operation type.',
      OPERATION,
    ),
  };
  return ({ what, tookMs, failed }) => {
    const operation_type = engineOperation(what);
    total.inc({ operation_type });
    seconds.observe({ operation_type }, tookMs / 1000);
    if (failed) failures[failed].inc({ operation_type });
  };
}

function buildInfo(version: string): Record<string, string> {
  const [major = '', minor = ''] = version.split('.');
  return {
    major,
    minor,
    git_version: `v${version}`,
    git_commit: '',
    git_tree_state: '',
    build_date: '',
    // Not Go, but what runs it: dashboards show it as it is.
    go_version: `node ${process.version}`,
    compiler: '',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
