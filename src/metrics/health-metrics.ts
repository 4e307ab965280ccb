import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** What /healthz found, a series for each of its checks (component-base/metrics/prometheus/slis). */
export function healthMetrics(set: MetricSet): Pick<Happenings, 'healthChecked'> {
  const last = set.gauge('kubernetes_healthcheck', 'This metric records the result of a single healthcheck.', ['name', 'type']);
  const total = set.counter('kubernetes_healthchecks_total', 'This metric records the results of all healthcheck.', [
    'name',
    'type',
    'status',
  ]);
  return {
    healthChecked: ({ check: name, failed }) => {
      last.set({ name, type: 'healthz' }, failed ? 0 : 1);
      total.inc({ name, type: 'healthz', status: failed ? 'error' : 'success' });
    },
  };
}
