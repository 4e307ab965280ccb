import type { ContainerAttachOptions, default as Docker } from 'dockerode';
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
  const query = { stream: true, stdin, stdout, stderr };
  const { feedsBodyToContainer } = await client.dialect(signal);
  const connection = await client.open(`POST /containers/${id}/attach`, client.requestTimeoutMs, signal, async (docker) =>
    hijacked(
      await (feedsBodyToContainer ? attachWithoutBody(docker, id, query) : docker.getContainer(id).attach({ ...query, hijack: true })),
    ),
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

/** What is asked for stands in the query alone. An empty body has to be said so: dockerode sends no head before it knows of a body. */
function attachWithoutBody({ modem }: Docker, id: string, query: ContainerAttachOptions): Promise<unknown> {
  const request = {
    path: `/containers/${id}/attach?`,
    method: 'POST',
    isStream: true,
    hijack: true,
    openStdin: false,
    file: Buffer.alloc(0),
    statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
    options: query,
  };
  return new Promise((resolve, reject) => {
    modem.dial(request, (error: Error | null, connection: unknown) => (error ? reject(error) : resolve(connection)));
  });
}
