import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** When pods last ended because the machine went down; 0: never, or not yet (pkg/kubelet/metrics/metrics.go). */
export function shutdownMetrics(set: MetricSet): Pick<Happenings, 'nodeShutdown'> {
  const [started, ended] = (['start', 'end'] as const).map((which) =>
    set.gauge(`kubelet_graceful_shutdown_${which}_time_seconds`, `Last graceful shutdown ${which} time since unix epoch in seconds`),
  );
  const seconds = (atMs = 0): number => Math.trunc(atMs / 1000);
  return {
    nodeShutdown: ({ startedAtMs, endedAtMs }) => {
      started?.set(seconds(startedAtMs));
      ended?.set(seconds(endedAtMs));
    },
  };
}
