import { HttpError, type Route } from '../../ports/route.ts';
import { containerSpec, findPod, type ServedPods } from './served-pods.ts';

/**
 * POST /checkpoint/…: what a kubelet answers whose container runtime has no checkpoints (pkg/kubelet/server checkpoint): a Docker engine has
 * them as an experiment, and none that could be exported. Clients take its 500 for "not supported", as they take a 404.
 */
export function checkpointRoutes(served: Pick<ServedPods, 'pods' | 'mirrorUidOf'>): readonly Route[] {
  return [
    {
      methods: ['POST'],
      path: '/checkpoint/{namespace}/{pod}/{container}',
      debugging: true,
      handle: async ({ params, query }) => {
        const { namespace = '', pod = '', container = '' } = params;
        if (!containerSpec(findPod(served, params), container)) throw new HttpError(404, `container ${container} does not exist`);
        const timeout = query.getAll('timeout').at(-1);
        if (timeout !== undefined && !/^[+-]?\d{1,18}$/.test(timeout)) throw new HttpError(404, 'cannot parse value of timeout parameter');
        const why = 'rpc error: code = Unimplemented desc = method CheckpointContainer not implemented';
        throw new HttpError(500, `checkpointing of ${namespace}/${pod}/${container} failed (${why})`);
      },
    },
  ];
}
