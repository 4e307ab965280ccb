import { errorText } from '../base/error-text.ts';
import { printable } from '../base/printable.ts';
import { sendText } from './answer.ts';
import type { Route } from './route.ts';

/** Metrics in Prometheus' text format, as they are when it is called. Rejects only where the signal aborts. */
export type MetricText = (signal: AbortSignal) => Promise<string>;

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The texts one after the other, as one page. One that fails, though none should, is no reason to know nothing: a comment says what is missing. */
export function metricPage(path: string, ...texts: readonly MetricText[]): Route {
  return {
    methods: ['GET'],
    path,
    readOnly: true,
    handle: async ({ signal }, response) => {
      const all = await Promise.all(texts.map((text) => partOf(text, signal)));
      sendText(response, all.join(''), { type: TYPE });
    },
  };
}

async function partOf(text: MetricText, signal: AbortSignal): Promise<string> {
  try {
    return await text(signal);
  } catch (error) {
    signal.throwIfAborted();
    return `# a part of these metrics is missing: ${printable(errorText(error))}\n`;
  }
}
