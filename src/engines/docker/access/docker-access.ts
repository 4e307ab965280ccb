import type { Clock } from '../../../base/clock.ts';
import type { ContainerAccess } from '../../../ports/container-access.ts';
import { attachSession } from './attach-session.ts';
import { containerLogs } from '../logs/container-logs.ts';
import { SandboxDialers } from '../../common/access/dial-sandbox.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { runningContainer } from '../client/running-container.ts';
import { execSession } from './exec-session.ts';
import { LogWatches } from '../../common/logs/log-watches.ts';

export interface DockerAccess extends ContainerAccess {
  /** Ends the helpers that reach into sandboxes. They end with this process in any case. */
  close(): void;
}

/** The containers of a Docker engine on this machine as ContainerAccess. Starts nothing before it is asked for. */
export function dockerAccess({ client, clock }: { readonly client: EngineClient; readonly clock: Clock }): DockerAccess {
  const dialers = new SandboxDialers(async (sandbox, signal) => {
    const { Id, State, HostConfig } = await runningContainer(client, sandbox, signal);
    return { id: Id, network: HostConfig.NetworkMode === 'host' ? 'node' : { pid: State.Pid } };
  }, clock);
  const watches = new LogWatches(clock);
  return {
    exec: (id, command, wanted, signal) => execSession({ client, clock }, id, command, wanted, signal),
    attach: (id, wanted, signal) => attachSession(client, id, wanted, signal),
    dial: (sandbox, port, signal) => dialers.dial(sandbox, port, signal),
    logs: (id, options, signal) => containerLogs({ client, watches }, id, options, signal),
    close: () => dialers.close(),
  };
}
