import type { Route } from '../route.ts';
import { sendJson } from './answer.ts';

/** /configz: what the agent was told, as a KubeletConfiguration (v1beta1). */
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
