import type { Happenings, RequestLabels, ServedRequest } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** The metrics of the node's own server (pkg/kubelet/server/metrics/metrics.go). */
export function serverMetrics(set: MetricSet, nowMs: () => number): Pick<Happenings, 'requestBegun' | 'requestEnded'> {
  const names = ['method', 'path', 'server_type', 'long_running'] as const;
  const requests = set.counter('kubelet_http_requests_total', 'Number of the http requests received since the server started', names);
  const seconds = set.histogram('kubelet_http_requests_duration_seconds', 'Duration in seconds to serve http requests', names);
  const inflight = set.gauge('kubelet_http_inflight_requests', 'Number of the inflight http requests', names);
  const startedAtMs = new WeakMap<ServedRequest, number>();
  return {
    requestBegun: (request) => {
      startedAtMs.set(request, nowMs());
      const labels = seriesOf(request.labels);
      requests.inc(labels);
      inflight.inc(labels);
    },
    requestEnded: (request) => {
      const atMs = startedAtMs.get(request);
      if (atMs === undefined) return;
      startedAtMs.delete(request);
      const labels = seriesOf(request.labels);
      inflight.dec(labels);
      seconds.observe(labels, (nowMs() - atMs) / 1000);
    },
  };
}

function seriesOf({
  method,
  path,
  serverType,
  longRunning,
}: RequestLabels): Record<'method' | 'path' | 'server_type' | 'long_running', string> {
  return { method, path, server_type: serverType, long_running: String(longRunning) };
}
