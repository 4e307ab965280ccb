import type { Route } from '../route.ts';
import { sendText } from './answer.ts';

/** Metrics in Prometheus' text format. */
export interface MetricsDeps {
  readonly kubelet: (signal: AbortSignal) => Promise<string>;
  readonly cadvisor: (signal: AbortSignal) => Promise<string>;
  readonly resource: (signal: AbortSignal) => Promise<string>;
  readonly probes: (signal: AbortSignal) => Promise<string>;
}

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** /metrics and its three relatives, under the kubelet's paths. */
export function metricsRoutes({ kubelet, cadvisor, resource, probes }: MetricsDeps): readonly Route[] {
  const pages = { '/metrics': kubelet, '/metrics/cadvisor': cadvisor, '/metrics/resource': resource, '/metrics/probes': probes };
  return Object.entries(pages).map(([path, page]) => ({
    methods: ['GET'],
    path,
    readOnly: true,
    handle: async ({ signal }, response) => sendText(response, await page(signal), { type: TYPE }),
  }));
}
