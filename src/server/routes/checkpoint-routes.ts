import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import { type Pod, podFullName } from '../../model/pod.ts';
import { sendText } from '../../ports/answer.ts';
import { HttpError, type Route } from '../../ports/route.ts';
import { containerSpec, findPod, runningContainer, type ServedPods } from './served-pods.ts';

const MOST_SECONDS = 24 * 3600;

export interface CheckpointDeps {
  readonly served: Pick<ServedPods, 'pods' | 'runtime' | 'access' | 'mirrorUidOf'>;
  /** Archives are in its checkpoints/, for root alone. Nothing removes them but people, as with a kubelet. */
  readonly rootDir: string;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * POST /checkpoint/…?timeout=SECONDS: the container as an archive, named in the answer (pkg/kubelet/server checkpoint). Where the engine has no
 * checkpoints it answers as a kubelet whose runtime has none: a Docker engine has them as an experiment, and none that could be exported.
 * Clients take its 500 for "not supported", as they take a 404.
 */
export function checkpointRoutes(deps: CheckpointDeps): readonly Route[] {
  return [
    {
      methods: ['POST'],
      path: '/checkpoint/{namespace}/{pod}/{container}',
      debugging: true,
      handle: async ({ params, query, signal }, response) => {
        const { namespace = '', pod: name = '', container = '' } = params;
        const pod = findPod(deps.served, params);
        if (!containerSpec(pod, container)) throw new HttpError(404, `container ${container} does not exist`);
        const timeout = query.getAll('timeout').at(-1) ?? '0';
        if (!/^[+-]?\d{1,18}$/.test(timeout)) throw new HttpError(404, 'cannot parse value of timeout parameter');
        const timeoutMs = Math.min(Math.max(Number(timeout), 0), MOST_SECONDS) * 1000;
        try {
          const file = await checkpoint(deps, pod, container, timeoutMs, signal);
          sendText(response, JSON.stringify({ items: [file] }), { type: 'application/json' });
        } catch (error) {
          throw new HttpError(500, `checkpointing of ${namespace}/${name}/${container} failed (${errorText(error)})`, { cause: error });
        }
      },
    },
  ];
}

async function checkpoint(
  { served, rootDir, clock }: CheckpointDeps,
  pod: Pod,
  container: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  const { access } = served;
  if (access.checkpoint === undefined) throw new Error('rpc error: code = Unimplemented desc = method CheckpointContainer not implemented');
  const id = await runningContainer(served, pod, container, signal);
  if (id === undefined) throw new Error(`container ${container} not found`);
  const directory = join(rootDir, 'checkpoints');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const at = new Date(clock.now()).toISOString().replace(/\.\d+/, '');
  const file = join(directory, `checkpoint-${podFullName(pod)}-${container}-${at}.tar`);
  await access.checkpoint(id, file, timeoutMs, signal);
  return file;
}
