import { sendText } from './answer.ts';
import type { Route } from './route.ts';

/** Metrics in Prometheus' text format, as they are when it is called. Rejects only where the signal aborts. */
export type MetricText = (signal: AbortSignal) => Promise<string>;

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The texts one after the other, as one page. */
export function metricPage(path: string, ...texts: readonly MetricText[]): Route {
  return {
    methods: ['GET'],
    path,
    readOnly: true,
    handle: async ({ signal }, response) => {
      const all = await Promise.all(texts.map((text) => text(signal)));
      sendText(response, all.join(''), { type: TYPE });
    },
  };
}
