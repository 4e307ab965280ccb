import type { Route } from '../../ports/route.ts';
import { sendJson } from '../../ports/answer.ts';

/** /configz: the agent's options, as a KubeletConfiguration (v1beta1). */
export function configRoutes({ config }: { readonly config: () => unknown }): readonly Route[] {
  return [
    {
      methods: ['GET'],
      path: '/configz',
      debugging: true,
      handle: async (_request, response) => {
        response.setHeader('Cache-Control', 'no-cache, no-store, must-revalidate');
        sendJson(response, { kubeletconfig: config() });
      },
    },
  ];
}
