import type { RequestMeter } from '../ports/request-meter.ts';
import type { MetricSet } from './metric-set.ts';

/** The metrics of the node's own server (pkg/kubelet/server/metrics/metrics.go). */
export function serverMetrics(set: MetricSet, nowMs: () => number): RequestMeter['begin'] {
  const names = ['method', 'path', 'server_type', 'long_running'] as const;
  const requests = set.counter('kubelet_http_requests_total', 'Number of the http requests received since the server started', names);
  const seconds = set.histogram('kubelet_http_requests_duration_seconds', 'Duration in seconds to serve http requests', names);
  const inflight = set.gauge('kubelet_http_inflight_requests', 'Number of the inflight http requests', names);
  return ({ method, path, serverType, longRunning }) => {
    const labels = { method, path, server_type: serverType, long_running: String(longRunning) };
    const startedAtMs = nowMs();
    let ended = false;
    requests.inc(labels);
    inflight.inc(labels);
    return () => {
      if (ended) return;
      ended = true;
      inflight.dec(labels);
      seconds.observe(labels, (nowMs() - startedAtMs) / 1000);
    };
  };
}
