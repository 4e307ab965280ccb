import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** Pods that were evicted, by what the node, or their own limit, was short of (pkg/kubelet/metrics). */
export function evictionMetrics(set: MetricSet): Pick<Happenings, 'podEvicted' | 'evictionStatsUsed'> {
  const evictions = set.counter('kubelet_evictions', 'Cumulative number of pod evictions by eviction signal', ['eviction_signal']);
  const ages = set.histogram(
    'kubelet_eviction_stats_age_seconds',
    'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal',
    ['eviction_signal'],
  );
  return {
    podEvicted: ({ signal }) => evictions.inc({ eviction_signal: signal }),
    evictionStatsUsed: ({ signal, ageMs }) => ages.observe({ eviction_signal: signal }, ageMs / 1000),
  };
}
