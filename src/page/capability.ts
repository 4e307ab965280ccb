import { availableParallelism } from 'node:os';
import { sendJson } from '../ports/answer.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { NodeHistory } from './node-history.ts';
import { pageRoutes } from './page-routes.ts';

/** A page for people: which state pods are in and why, what happens, and what the node uses. It reads what other capabilities serve. */
export function capability({ options, clock, log }: NodeParts): Contribution {
  const history = new NodeHistory({ clock, log, cores: availableParallelism(), always: options.pageAddress !== '' });
  return {
    routes: [
      ...pageRoutes(),
      {
        methods: ['GET'],
        path: '/rxlet/v1/node-history',
        debugging: true,
        page: 'data',
        handle: async (_request, response) => sendJson(response, history.look()),
      },
    ],
    services: [
      {
        name: 'node history',
        stage: 'server',
        run: (signal, { stats }) => history.run((within) => stats.node(within, 'machine'), signal),
      },
    ],
  };
}
