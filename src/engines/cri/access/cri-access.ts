import type { Clock } from '../../../base/clock.ts';
import type { ContainerAccess } from '../../../ports/container-access.ts';
import { SandboxDialers } from '../../common/access/dial-sandbox.ts';
import { LogWatches } from '../../common/logs/log-watches.ts';
import type { LogNames } from '../../common/logs/rotated-logs.ts';
import { ContainerState } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { containerLogs } from '../logs/container-logs.ts';
import { checkpointContainer } from './checkpoint-container.ts';
import { attachSession, execSession } from './exec-session.ts';
import { existingContainer, runningSandbox } from './running-container.ts';

/** How long the runtime's streaming server may take to answer and to open streams, as Kubernetes' own clients wait (httpstream/spdy). */
const STREAMING_TIMEOUT_MS = 30_000;

export interface CriAccess extends ContainerAccess {
  /** Ends the helpers that reach into sandboxes. They end with this process in any case. */
  close(): void;
}

export interface CriAccessDeps {
  readonly client: Pick<CriClient, 'call' | 'requestTimeoutMs'>;
  readonly clock: Clock;
  /** How the log files are named. */
  readonly names: LogNames;
}

/** The containers of a runtime that speaks CRI, on this machine, as ContainerAccess. Starts nothing before it is asked for. */
export function criAccess({ client, clock, names }: CriAccessDeps): CriAccess {
  const dialers = new SandboxDialers((sandbox, signal) => runningSandbox(client, sandbox, signal), clock);
  const session = { client, clock, timeoutMs: STREAMING_TIMEOUT_MS };
  const logs = {
    names,
    watches: new LogWatches(clock),
    look: async (id: string, signal: AbortSignal) => {
      const { logPath, state } = await existingContainer(client, id, signal);
      return { logPath, running: state === ContainerState.CONTAINER_RUNNING };
    },
  };
  return {
    exec: (id, command, wanted, signal) => execSession(session, id, command, wanted, signal),
    attach: (id, wanted, signal) => attachSession(session, id, wanted, signal),
    dial: (sandbox, port, signal) => dialers.dial(sandbox, port, signal),
    logs: (id, options, signal) => containerLogs(logs, id, options, signal),
    checkpoint: (id, file, timeoutMs, signal) => checkpointContainer(client, id, file, timeoutMs, signal),
    close: () => dialers.close(),
  };
}
