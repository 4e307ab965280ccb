import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** The rest_client_ metrics of client-go (component-base/metrics/prometheus/restclient). */
export function apiMetrics(set: MetricSet): Pick<Happenings, 'apiRequested' | 'apiRequestWaited'> {
  const seconds = set.histogram(
    'rest_client_request_duration_seconds',
    'Request latency in seconds. Broken down by verb, and host.',
    ['verb', 'host'],
    buckets,
  );
  const limited = set.histogram(
    'rest_client_rate_limiter_duration_seconds',
    'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    ['verb', 'host'],
    buckets,
  );
  const requests = set.counter('rest_client_requests_total', 'Number of HTTP requests, partitioned by status code, method, and host.', [
    'code',
    'method',
    'host',
  ]);
  return {
    apiRequested: ({ method, server, status, tookMs }) => {
      requests.inc({ code: status === undefined ? '<error>' : String(status), method, host: hostOf(server) });
      seconds.observe({ verb: method, host: hostOf(server) }, tookMs / 1000);
    },
    apiRequestWaited: ({ method, server, waitedMs }) => limited.observe({ verb: method, host: hostOf(server) }, waitedMs / 1000),
  };
}

function hostOf(server: string): string {
  return URL.parse(server)?.host ?? server;
}
