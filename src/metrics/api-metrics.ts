import type { ApiObserver } from '../ports/observers.ts';
import { exponentialBuckets, type MetricSet } from './metric-set.ts';

const buckets = exponentialBuckets(0.001, 2, 10);
/** In place of every path, as client-go writes it: one series for each server. */
const urlOf = (server: string): string => `${server}/%7Bprefix%7D`;

/** The rest_client_ metrics of client-go (component-base/metrics/prometheus/restclient). */
export function apiMetrics(set: MetricSet): ApiObserver {
  const seconds = set.histogram(
    'rest_client_request_duration_seconds',
    'Request latency in seconds. Broken down by verb and URL.',
    ['verb', 'url'],
    buckets,
  );
  const limited = set.histogram(
    'rest_client_rate_limiter_duration_seconds',
    'Client side rate limiter latency in seconds. Broken down by verb and URL.',
    ['verb', 'url'],
    buckets,
  );
  const requests = set.counter('rest_client_requests_total', 'Number of HTTP requests, partitioned by status code, method, and host.', [
    'code',
    'method',
    'host',
  ]);
  return {
    requested: ({ method, server, status, tookMs }) => {
      requests.inc({ code: status === undefined ? '<error>' : String(status), method, host: hostOf(server) });
      seconds.observe({ verb: method, url: urlOf(server) }, tookMs / 1000);
    },
    waited: (method, server, waitedMs) => limited.observe({ verb: method, url: urlOf(server) }, waitedMs / 1000),
  };
}

function hostOf(server: string): string {
  return URL.parse(server)?.host ?? server;
}
