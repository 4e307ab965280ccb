import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import { execOnce } from '../../ports/exec-once.ts';
import { HttpError, type Route } from '../../ports/route.ts';
import { sendText } from '../../ports/answer.ts';
import { findPod, runningContainer, type ServedPods } from './served-pods.ts';

/** What later releases' runtimes keep of a command's output (ExecSync). */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export interface RunDeps {
  readonly served: Pick<ServedPods, 'pods' | 'runtime' | 'access' | 'mirrorUidOf'>;
  readonly clock: Clock;
}

/**
 * POST /run/…?cmd=: a command to its end, its output as the answer. The words of `cmd` are what stands between single blanks; the
 * answer is called JSON, whatever it is; both as in the kubelet (pkg/kubelet/server getRun).
 */
export function runRoutes({ served, clock }: RunDeps): readonly Route[] {
  const handle: Route['handle'] = async ({ params, query, signal }, response) => {
    const { container: name = '' } = params;
    const pod = findPod(served, params);
    const command = (query.get('cmd') ?? '').split(' ');
    const id = await runningContainer(served, pod, name, signal);
    if (id === undefined) throw new HttpError(500, `container not found (${JSON.stringify(name)})`);
    let result;
    try {
      result = await execOnce(served.access, id, command, { clock, maxOutputBytes: MAX_OUTPUT_BYTES }, signal);
    } catch (error) {
      throw new HttpError(500, errorText(error), { cause: error });
    }
    const { exitCode, output } = result;
    if (exitCode !== 0) throw new HttpError(500, `command '${command.join(' ')}' exited with ${exitCode}: ${output}`);
    sendText(response, output, { type: 'application/json' });
  };
  return ['/run/{namespace}/{pod}/{container}', '/run/{namespace}/{pod}/{uid}/{container}'].map((path) => ({
    methods: ['POST'],
    path,
    debugging: true,
    handle,
  }));
}
