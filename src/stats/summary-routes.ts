import { HttpError, type Route } from '../ports/route.ts';
import { errorText } from '../base/error-text.ts';
import { readBody, sendJson } from '../ports/answer.ts';

export interface SummaryDeps {
  /** stats/v1alpha1 Summary; with CPU and memory alone where that is enough, which is cheaper. */
  readonly summary: (onlyCpuAndMemory: boolean, signal: AbortSignal) => Promise<unknown>;
}

/** /stats/summary. /stats, /stats/container and /stats/{pod}/… went with cAdvisor's JSON endpoints: 404, as the kubelet answers since 1.18. */
export function summaryRoutes({ summary }: SummaryDeps): readonly Route[] {
  return [
    {
      methods: ['GET', 'POST'],
      path: '/stats/summary',
      readOnly: true,
      handle: async ({ message, query, signal }, response) => {
        const isForm = message.headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
        const form = message.method === 'POST' && isForm ? [...new URLSearchParams(await readBody(message)).entries()] : [];
        const asked = [...form, ...query.entries()].filter(([name]) => name === 'only_cpu_and_memory').map(([, value]) => value);
        try {
          sendJson(response, await summary(asked.length === 1 && asked[0] === 'true', signal));
        } catch (error) {
          throw new HttpError(500, `Internal Error: ${errorText(error)}`, { cause: error });
        }
      },
    },
  ];
}
