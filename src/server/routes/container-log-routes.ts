import type { IncomingMessage, ServerResponse } from 'node:http';
import { anySignal } from '../../base/any-signal.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { LogPiece } from '../../ports/container-access.ts';
import { HttpError, type Route, type RouteRequest } from '../../ports/route.ts';
import { beginStream, flushTo, writeTo } from '../../ports/answer.ts';
import { logOptions } from './log-options.ts';
import { loggedContainer } from './logged-container.ts';
import { containerSpec, findPod, type ServedPods } from './served-pods.ts';

/** A log that is followed and says nothing for so long is answered, empty, so that the client knows that it is being followed. */
const SILENCE_MS = 200;
const SMALL_BYTES = 2048;

export interface ContainerLogDeps {
  readonly served: Pick<ServedPods, 'pods' | 'statusOf' | 'access' | 'mirrorUidOf'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Whether clients may ask for stdout or stderr alone (gate PodLogsQuerySplitStreams). Those of the local socket may anyway. */
  readonly splitStreams: boolean;
}

/** /containerLogs: what a container has written, as it comes and as fast as it is read. */
export function containerLogRoutes(deps: ContainerLogDeps): readonly Route[] {
  return [
    {
      methods: ['GET'],
      path: '/containerLogs/{namespace}/{pod}/{container}',
      debugging: true,
      handle: (request, response) => sendLog(deps, request, response),
    },
  ];
}

async function sendLog(
  { served, clock, splitStreams }: ContainerLogDeps,
  { message, params, query, signal }: RouteRequest,
  response: ServerResponse,
): Promise<void> {
  const { pod: podName = '', container: name = '' } = params;
  const { previous, options } = logOptions(query, clock.now(), splitStreams || isLocal(message));
  const pod = findPod(served, params, `pod ${JSON.stringify(podName)} does not exist`);
  if (!containerSpec(pod, name)) throw new HttpError(404, `container ${JSON.stringify(name)} not found in pod ${JSON.stringify(podName)}`);
  const status = served.statusOf(pod.metadata.uid) ?? pod.status ?? {};
  const id = loggedContainer(podName, status, name, previous);

  using own = anySignal(signal);
  const pieces = served.access.logs(id, options, own.signal)[Symbol.asyncIterator]();
  try {
    const first = pieces.next();
    // What fails before a byte was sent still gets a status that says so.
    const failed = first.then(
      () => undefined,
      (error: unknown) => new HttpError(400, errorText(error), { cause: error }),
    );
    const failure = await (options.follow ? Promise.race([failed, silence(clock, own.signal)]) : failed);
    if (failure) throw failure;
    beginStream(response);
    for (let piece = await first; piece.done !== true; piece = await pieces.next()) {
      if (!(await sendPiece(response, piece.value, signal))) return;
    }
    response.end();
  } finally {
    own.abort();
    await pieces.return?.();
  }
}

/** Over the socket in the agent's own directory: only the network has addresses. */
const isLocal = ({ socket }: IncomingMessage): boolean => socket.localAddress === undefined;

/** Small pieces are copied, so that a log of short runs does not wait for each; big ones are waited for. */
function sendPiece(response: ServerResponse, { bytes }: LogPiece, signal: AbortSignal): Promise<boolean> {
  return bytes.length < SMALL_BYTES ? writeTo(response, Buffer.from(bytes), signal) : flushTo(response, bytes, signal);
}

async function silence(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<undefined> {
  await clock.sleep(SILENCE_MS, signal).catch(() => undefined);
}
