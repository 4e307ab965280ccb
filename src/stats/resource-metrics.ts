import { exposition, type MetricFamily, type MetricSample } from '../base/exposition.ts';
import type { ContainerUsage, MemoryStats, NodeUsage, PodUsage } from '../ports/pod-stats.ts';

type Labels = MetricSample['labels'];
type Used = Pick<ContainerUsage, 'cpu' | 'memory'>;

/**
 * What /metrics/resource answers, and metrics-server reads (pkg/kubelet/metrics/collectors/resource_metrics.go, and the names that came
 * after 1.20). Undefined: it could not be measured, which is reported as well.
 */
export function resourceMetrics(usage: { readonly node: NodeUsage; readonly pods: readonly PodUsage[] } | undefined): string {
  const node = usage ? [{ labels: {}, of: usage.node }] : [];
  const pods = (usage?.pods ?? []).map((pod) => ({ labels: { pod: pod.name, namespace: pod.namespace }, of: pod }));
  const containers = (usage?.pods ?? []).flatMap(({ name: pod, namespace, containers }) =>
    containers.map((of) => ({ labels: { container: of.name, pod, namespace }, of })),
  );
  const failed: readonly MetricSample[] = [{ labels: {}, value: usage ? 0 : 1 }];
  const error = '[ALPHA] 1 if there was an error while getting container metrics, 0 otherwise';
  return exposition([
    cpu('node_cpu_usage_seconds_total', 'Cumulative cpu time consumed by the node in core-seconds', node),
    swap(
      'node_swap_usage_bytes',
      'Current swap usage of the node in bytes. Reported only on non-windows systems',
      usage?.node.swap ? [{ labels: {}, value: usage.node.swap.usedBytes, atMs: usage.node.swap.atMs }] : [],
    ),
    memory('node_memory_working_set_bytes', 'Current working set of the node in bytes', node),
    cpu('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed by the container in core-seconds', containers),
    swap(
      'container_swap_usage_bytes',
      'Current amount of the container swap usage in bytes. Reported only on non-windows systems',
      swapOf(containers, ({ swapBytes }) => swapBytes),
    ),
    swap(
      'container_swap_limit_bytes',
      'Current amount of the container swap limit in bytes. Reported only on non-windows systems',
      swapOf(containers, ({ swapLimitBytes }) => swapLimitBytes),
    ),
    memory('container_memory_working_set_bytes', 'Current working set of the container in bytes', containers),
    {
      name: 'container_start_time_seconds',
      help: '[ALPHA] Start time of the container since unix epoch in seconds',
      type: 'gauge',
      samples: containers.map(({ labels, of }) => ({ labels, value: of.startedAtMs / 1000 })),
    },
    cpu('pod_cpu_usage_seconds_total', 'Cumulative cpu time consumed by the pod in core-seconds', pods),
    swap(
      'pod_swap_usage_bytes',
      'Current amount of the pod swap usage in bytes. Reported only on non-windows systems',
      swapOf(pods, ({ swapBytes }) => swapBytes),
    ),
    memory('pod_memory_working_set_bytes', 'Current working set of the pod in bytes', pods),
    { name: 'scrape_error', help: error, type: 'gauge', samples: failed },
    { name: 'resource_scrape_error', help: error, type: 'gauge', samples: failed },
  ]);
}

type Rows = readonly { readonly labels: Labels; readonly of: Used }[];

function cpu(name: string, help: string, rows: Rows): MetricFamily {
  const samples = rows.flatMap(({ labels, of }) =>
    of.cpu ? [{ labels, value: of.cpu.usageCoreNanoSeconds / 1e9, atMs: of.cpu.atMs }] : [],
  );
  return { name, help: `[ALPHA] ${help}`, type: 'counter', samples };
}

function memory(name: string, help: string, rows: Rows): MetricFamily {
  const samples = rows.flatMap(({ labels, of }) => (of.memory ? [{ labels, value: of.memory.workingSetBytes, atMs: of.memory.atMs }] : []));
  return { name, help: `[ALPHA] ${help}`, type: 'gauge', samples };
}

function swapOf(rows: Rows, of: (memory: MemoryStats) => number | undefined): readonly MetricSample[] {
  return rows.flatMap(({ labels, of: { memory } }) => {
    const value = memory && of(memory);
    return memory === undefined || value === undefined ? [] : [{ labels, value, atMs: memory.atMs }];
  });
}

function swap(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, help: `[ALPHA] ${help}`, type: 'gauge', samples };
}
