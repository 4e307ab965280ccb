import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** What relists tell: how long they take, and how much runs (pkg/kubelet/pleg/generic.go). */
export function plegMetrics(set: MetricSet): Pick<Happenings, 'relisted'> {
  const seconds = set.histogram('kubelet_pleg_relist_duration_seconds', 'Duration in seconds for relisting pods in PLEG.');
  const interval = set.histogram('kubelet_pleg_relist_interval_seconds', 'Interval in seconds between relisting in PLEG.');
  const lastSeen = set.gauge('kubelet_pleg_last_seen_seconds', 'Timestamp in seconds when PLEG was last seen active.');
  // Nothing is ever discarded here: repeats merge.
  set.counter('kubelet_pleg_discard_events', 'The number of discard events in PLEG.');
  const runningPods = set.gauge('kubelet_running_pods', 'Number of pods currently running');
  const containers = set.gauge('kubelet_running_containers', 'Number of containers currently running', ['container_state']);
  return {
    relisted: ({ atMs, tookMs, intervalMs, pods }) => {
      seconds.observe(tookMs / 1000);
      if (intervalMs !== undefined) interval.observe(intervalMs / 1000);
      lastSeen.set(Math.floor(atMs / 1000));
      let runningCount = 0;
      const counts = new Map<string, number>();
      for (const { parts } of pods) {
        let runs = false;
        for (const { container, phase } of parts) {
          if (container !== undefined) counts.set(phase, (counts.get(phase) ?? 0) + 1);
          else if (phase === 'running') runs = true;
        }
        if (runs) runningCount++;
      }
      runningPods.set(runningCount);
      containers.reset();
      for (const [phase, count] of counts) containers.set({ container_state: phase }, count);
    },
  };
}
