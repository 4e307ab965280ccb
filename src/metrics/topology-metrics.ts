import type { Happenings } from '../ports/happenings.ts';
import { exponentialBuckets, type MetricSet } from './metric-set.ts';

/** CPUs and memory of their own, and the NUMA nodes that they come from (pkg/kubelet/metrics). */
export function topologyMetrics(set: MetricSet): Pick<Happenings, 'cpusAsked' | 'cpusAssigned' | 'memoryAsked' | 'topologyAligned'> {
  const asked = set.counter('kubelet_cpu_manager_pinning_requests_total', 'The number of cpu core allocations which required pinning.');
  const failed = set.counter(
    'kubelet_cpu_manager_pinning_errors_total',
    'The number of cpu core allocations which required pinning failed.',
  );
  const memoryAsked = set.counter(
    'kubelet_memory_manager_pinning_requests_total',
    'The number of memory pages allocations which required pinning.',
  );
  const memoryFailed = set.counter(
    'kubelet_memory_manager_pinning_errors_total',
    'The number of memory pages allocations which required pinning that failed.',
  );
  const shared = set.gauge(
    'kubelet_cpu_manager_shared_pool_size_millicores',
    'The size of the shared CPU pool for non-guaranteed QoS pods, in millicores.',
  );
  const exclusive = set.gauge(
    'kubelet_cpu_manager_exclusive_cpu_allocation_count',
    'The total number of CPUs exclusively allocated to containers running on this node',
  );
  const perNode = set.gauge('kubelet_cpu_manager_allocation_per_numa', 'Number of CPUs allocated per NUMA node', ['numa_node']);
  const requests = set.counter(
    'kubelet_topology_manager_admission_requests_total',
    'The number of admission requests where resources have to be aligned.',
  );
  const errors = set.counter(
    'kubelet_topology_manager_admission_errors_total',
    'The number of admission request failures where resources could not be aligned.',
  );
  const duration = set.histogram(
    'kubelet_topology_manager_admission_duration_ms',
    'Duration in milliseconds to serve a pod admission request.',
    [],
    exponentialBuckets(0.05, 2, 15),
  );
  return {
    cpusAsked: (ask) => {
      asked.inc();
      if (ask.failed) failed.inc();
    },
    cpusAssigned: (cpus) => {
      shared.set(cpus.available * 1000);
      exclusive.set([...cpus.exclusive.values()].reduce((sum, count) => sum + count, 0));
      for (const [node, count] of cpus.exclusive) perNode.set({ numa_node: String(node) }, count);
    },
    memoryAsked: (ask) => {
      memoryAsked.inc();
      if (ask.failed) memoryFailed.inc();
    },
    topologyAligned: (aligned) => {
      requests.inc();
      if (aligned.failed) errors.inc();
      duration.observe(aligned.tookMs);
    },
  };
}
