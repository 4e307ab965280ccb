import { stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { deadline } from '../../base/deadline.ts';
import { errorCode } from '../../base/error-code.ts';
import { errorText } from '../../base/error-text.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { type EngineEndpoint, engineEndpointFault, parseEngineEndpoint } from '../../model/engine-endpoint.ts';
import { askCri } from './ask-cri.ts';
import { askDocker } from './ask-docker.ts';
import { away, type EndpointAnswer, type NoAnswer, wrong } from './endpoint-answer.ts';

/** What listens on this machine answers in milliseconds, unless it is busy. */
export const ANSWER_WITHIN_MS = 5_000;

const startIt = 'start the engine, or name another one with --container-runtime-endpoint';
const nameAnother = 'name the socket of an engine with --container-runtime-endpoint';

/**
 * Asks who listens at an endpoint: first for Docker's version, then, where HTTP/1 is not understood, for that of a container runtime. Within
 * ANSWER_WITHIN_MS for each of the two; rejects with the signal's reason only.
 */
export async function askEndpoint(
  endpoint: string,
  clock: Pick<Clock, 'schedule' | 'monotonicMs'>,
  signal: AbortSignal,
): Promise<EndpointAnswer> {
  const at = parseEngineEndpoint(endpoint);
  if (at === undefined) return wrong(`${engineEndpointFault(endpoint)}`, nameAnother);
  const within = async (ask: typeof askDocker | typeof askCri): Promise<EndpointAnswer | 'another protocol'> => {
    using own = deadline(clock, ANSWER_WITHIN_MS, 'the answer', signal);
    try {
      return await ask(at, own.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (own.missed)
        return away(`it takes connections and does not answer within ${ANSWER_WITHIN_MS / 1000} s`, 'look at the engine: it may hang');
      return failed(error);
    }
  };
  try {
    const none = await unlessAborted(noSocket(at), signal);
    if (none !== undefined) return none;
    const docker = await within(askDocker);
    if (docker !== 'another protocol') return docker;
    const cri = await within(askCri);
    return cri === 'another protocol' ? wrong('it speaks neither the API of Docker nor CRI', nameAnother) : cri;
  } finally {
    signal.throwIfAborted();
  }
}

/** Why there is nothing to connect to; undefined: there may be. */
async function noSocket(at: EngineEndpoint): Promise<NoAnswer | undefined> {
  if (!('socketPath' in at)) return undefined;
  try {
    const found = await stat(at.socketPath);
    if (found.isSocket()) return undefined;
    return wrong(found.isDirectory() ? 'it is a directory, no socket' : 'it is no socket', nameAnother);
  } catch (error) {
    return failed(error);
  }
}

const missing = away('there is no such file', startIt);
const denied = away(
  'this user may not connect to it',
  "run rxlet as root or as a member of the socket's group, or name a socket of this user",
);
const failures: ReadonlyMap<string | undefined, NoAnswer> = new Map([
  ['ENOENT', missing],
  ['ENOTDIR', missing],
  ['ECONNREFUSED', away('nothing listens there', startIt)],
  ['EACCES', denied],
  ['EPERM', denied],
]);

const failed = (error: unknown): NoAnswer => failures.get(errorCode(error)) ?? away(errorText(error), startIt);
