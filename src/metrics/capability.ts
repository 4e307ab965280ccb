import { drainInto } from '../base/drain-into.ts';
import { version } from '../base/version.ts';
import type { Contribution } from '../ports/contribution.ts';
import { sendText } from '../ports/answer.ts';
import { metricPage } from '../ports/metric-text.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { kubeletMetrics } from './kubelet-metrics.ts';

/** The agent's metrics on itself: it counts what happens. */
export function capability({ options, clock, updates, statuses }: NodeParts): Contribution {
  const metrics = kubeletMetrics({ clock, nodeName: options.nodeName, version: version() });
  return {
    listener: metrics.listener,
    metricTexts: [() => metrics.text()],
    routes: [
      metricPage('/metrics/probes', () => metrics.probeText()),
      metricPage('/metrics/slis', () => metrics.sliText()),
      {
        methods: ['DELETE'],
        path: '/metrics/slis',
        handle: async (_request, response) => {
          metrics.resetSlis();
          sendText(response, 'metrics reset\n');
        },
      },
    ],
    services: [
      { name: 'pod metrics', stage: 'before pods', run: (signal) => drainInto(updates, (update) => metrics.declared(update), signal) },
      {
        name: 'pod starts',
        stage: 'before pods',
        run: (signal) => drainInto(statuses.changes, (change) => metrics.changed(change), signal),
      },
    ],
  };
}
