import { HttpError, type Route } from '../route.ts';

/**
 * POST /checkpoint/…: 404 whatever is asked for, as a kubelet answers whose ContainerCheckpoint feature is off; clients take it for
 * "not supported". A kubelet whose runtime cannot do it says 500.
 */
export function checkpointRoutes(): readonly Route[] {
  return [
    {
      methods: ['POST'],
      path: '/checkpoint/{namespace}/{pod}/{container}',
      debugging: true,
      handle: async () => {
        throw new HttpError(404, 'checkpointing of containers is not supported');
      },
    },
  ];
}
