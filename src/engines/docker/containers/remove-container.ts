import type { EngineClient } from '../client/engine-client.ts';
import { EngineResponseError, isConflict, isNotFound } from '../client/engine-errors.ts';

/** With its anonymous volumes, running or not. Succeeds when it is gone already, and waits for a removal that is under way. */
export async function deleteContainer(client: EngineClient, id: string, signal: AbortSignal): Promise<void> {
  if ((await client.dialect(signal)).stopsBeforeRemoval) await killContainer(client, id, signal);
  try {
    await client.call(`DELETE /containers/${id}`, client.requestTimeoutMs, signal, (docker) =>
      docker.getContainer(id).remove({ v: true, force: true }),
    );
  } catch (error) {
    if (isConflict(error)) await awaitRemoval(client, id, signal);
    else if (!isNotFound(error)) throw error;
  }
}

/** Succeeds when it does not run, or is gone. */
async function killContainer(client: EngineClient, id: string, signal: AbortSignal): Promise<void> {
  try {
    await client.call(`POST /containers/${id}/kill`, client.requestTimeoutMs, signal, (docker) => docker.getContainer(id).kill());
  } catch (error) {
    // What is wrong with it beside that is said by its removal.
    if (!(error instanceof EngineResponseError)) throw error;
  }
}

async function awaitRemoval(client: EngineClient, id: string, signal: AbortSignal): Promise<void> {
  try {
    await client.call(`POST /containers/${id}/wait`, client.requestTimeoutMs, signal, (docker) =>
      docker.getContainer(id).wait({ condition: 'removed' }),
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
