import type { ContainerAttachOptions } from 'dockerode';
import type { ContainerSession, StreamsWanted } from '../../../ports/container-access.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { hijacked, resizing } from './exec-session.ts';
import { hijackedSession } from './hijacked-session.ts';
import { runningContainer } from '../client/running-container.ts';

/** See ContainerAccess.attach. What the container wrote before is not sent again. */
export async function attachSession(
  client: EngineClient,
  id: string,
  wanted: StreamsWanted,
  signal: AbortSignal,
): Promise<ContainerSession> {
  const { Config } = await runningContainer(client, id, signal);
  const { stdin, stdout, stderr } = wanted;
  const connection = await client.open(`POST /containers/${id}/attach`, client.requestTimeoutMs, signal, async (docker) =>
    hijacked(await docker.getContainer(id).attach(attachOptions({ stream: true, stdin, stdout, stderr }))),
  );
  return hijackedSession({
    connection,
    wanted,
    raw: Config.Tty,
    signal,
    resize: ({ width, height }) =>
      resizing(
        client.call(`POST /containers/${id}/resize`, client.requestTimeoutMs, signal, (docker) =>
          docker.getContainer(id).resize({ w: width, h: height }),
        ),
      ),
    exitCode: () => Promise.resolve(undefined),
  });
}

/** What is asked for stands in the query alone: an engine that takes a body for input would feed it to the container. */
function attachOptions(query: ContainerAttachOptions): ContainerAttachOptions & { readonly _query: object; readonly _body: object } {
  return { ...query, hijack: true, _query: query, _body: {} };
}
