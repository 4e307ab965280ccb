import type { Duplex } from 'node:stream';
import { errorText } from '../../base/error-text.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { ContainerSession, StreamsWanted } from '../../ports/container-access.ts';
import { HttpError, type RouteRequest } from '../../ports/route.ts';
import { whenFinished } from '../../base/close-socket.ts';
import { execQuery } from './exec-query.ts';
import { relaySession } from './relay-session.ts';
import { exitStatus, internalErrorStatus, type RemoteCommandStatus, statusText, successStatus } from './remote-command-status.ts';
import type { RemoteStreams, StreamingDeps } from './remote-streams.ts';
import { spdyRemoteStreams } from './spdy-remote-streams.ts';
import { wantedUpgrade } from './upgrade-answer.ts';
import { webSocketRemoteStreams } from './websocket-remote-streams.ts';

export interface RemoteCommandDeps extends StreamingDeps {
  /** Called once the client's streams are there. An abort of `signal` ends the session. What it rejects with, the client reads as the status. */
  open(wanted: StreamsWanted, signal: AbortSignal): Promise<ContainerSession>;
}

/** How the end of a session, good or bad, is reported to the client. */
interface Outcome {
  status(exitCode: number | undefined): RemoteCommandStatus;
  readonly failed: string;
}

const execOutcome: Outcome = {
  status: (exitCode = 0) => (exitCode === 0 ? successStatus : exitStatus(exitCode)),
  failed: 'error executing command in container',
};
/** Who attaches has not started the process: its exit code is the pod's affair. */
const attachOutcome: Outcome = { status: () => successStatus, failed: 'error attaching to container' };

/**
 * Runs a command in a container for a client that speaks SPDY/3.1 or WebSocket. Resolves when the connection is closed. Rejects with
 * HttpError as long as nothing was answered; afterwards, what goes wrong goes down the error stream.
 */
export function serveExec(request: RouteRequest, socket: Duplex, head: Buffer, deps: RemoteCommandDeps): Promise<void> {
  return serveRemoteCommand(request, socket, head, deps, execOutcome);
}

/** Joins a client with a container's first process, as `serveExec`. */
export function serveAttach(request: RouteRequest, socket: Duplex, head: Buffer, deps: RemoteCommandDeps): Promise<void> {
  return serveRemoteCommand(request, socket, head, deps, attachOutcome);
}

async function serveRemoteCommand(
  request: RouteRequest,
  socket: Duplex,
  head: Buffer,
  deps: RemoteCommandDeps,
  outcome: Outcome,
): Promise<void> {
  const { wanted } = execQuery(request.query);
  if (request.message.method !== 'GET' && request.message.method !== 'POST') throw new HttpError(405, 'method not allowed');
  const open = wantedUpgrade(request.message) === 'websocket' ? webSocketRemoteStreams : spdyRemoteStreams;
  const remote = await open(request, socket, head, wanted, deps);
  if (remote === undefined) return;
  const signal = AbortSignal.any([request.signal, remote.over]);
  const status = await runSession(remote, wanted, deps, outcome, signal);
  if (status !== undefined) {
    remote.error.end(statusText(status, remote.jsonStatus));
    await whenFinished(remote.error);
  }
  await remote.close();
}

/** Undefined when the client has gone. */
async function runSession(
  remote: RemoteStreams,
  wanted: StreamsWanted,
  deps: RemoteCommandDeps,
  outcome: Outcome,
  signal: AbortSignal,
): Promise<RemoteCommandStatus | undefined> {
  const session = async (): Promise<RemoteCommandStatus | undefined> => {
    try {
      return outcome.status(await relaySession(await deps.open(wanted, signal), remote));
    } catch (error) {
      if (signal.aborted) return undefined;
      deps.log.v(2, 'streaming session failed', { error });
      return internalErrorStatus(`${outcome.failed}: ${errorText(error)}`);
    }
  };
  return unlessAborted(session(), signal).catch(() => undefined);
}
