import { jsonWithoutCredentials } from '../base/without-credentials.ts';
import { sendText } from '../ports/answer.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Contribution, Given } from '../ports/contribution.ts';
import { HttpError, type RouteRequest } from '../ports/route.ts';
import type { KnownManifests } from './known-manifests.ts';
import type { KnownPods } from './known-pods.ts';
import type { NodeWatch } from './node-watch.ts';

export interface ExplainRoutesDeps {
  readonly node: NodeParts;
  readonly known: KnownPods;
  readonly manifests: KnownManifests;
  readonly watch: NodeWatch;
  /** Undefined: the agent is still starting. */
  readonly given: () => Given | undefined;
}

/**
 * GET /rxlet/v1/explain: one line for each pod, and for each manifest that makes none. …/explain/{namespace}/{pod}: all of that name, in
 * full. …/explain-manifest?path=FILE: what a manifest says that makes no pod. …/explain-node.
 */
export function explainRoutes(deps: ExplainRoutesDeps): NonNullable<Contribution['routes']> {
  // What explains is loaded when somebody asks.
  const route = (path: string, answer: (request: RouteRequest) => Promise<unknown>): NonNullable<Contribution['routes']>[number] => ({
    methods: ['GET'],
    path,
    debugging: true,
    page: 'data',
    handle: async (request, response) => sendText(response, jsonWithoutCredentials(await answer(request)), { type: 'application/json' }),
  });
  return [
    route('/rxlet/v1/explain', async () => {
      const { explainAll } = await import('./explanations.ts');
      return { items: explainAll(deps) };
    }),
    route('/rxlet/v1/explain/{namespace}/{pod}', async ({ params: { namespace = '', pod = '' }, signal }) => {
      const { explainNamed } = await import('./explanations.ts');
      const items = await explainNamed(deps, `${namespace}/${pod}`, signal);
      if (items.length === 0) throw new HttpError(404, `pod ${namespace}/${pod} is not on this node, and was not within the last hour`);
      return { items };
    }),
    route('/rxlet/v1/explain-manifest', async ({ query }) => {
      const { explainManifests } = await import('./explain-manifest.ts');
      const path = query.get('path') ?? '';
      const items = explainManifests(deps.manifests).filter(({ origin }) => origin.where === path);
      if (items.length === 0) throw new HttpError(404, `${JSON.stringify(path)} is no manifest that is refused or ignored here`);
      return { items };
    }),
    route('/rxlet/v1/explain-node', async ({ signal }) => {
      const { explainThisNode } = await import('./explanations.ts');
      return explainThisNode(deps, signal);
    }),
  ];
}
