import type { EngineClient } from '../client/engine-client.ts';
import { isNotFound, isNotModified } from '../client/engine-errors.ts';

/** Beyond it the engine's own arithmetic may overflow. */
const MAX_SECONDS = 2 ** 31 - 1;

/** SIGTERM, or what the image names instead, then SIGKILL after the grace period. Resolves when it has ended; succeeds when it is gone or never ran. */
export async function stopContainer(client: EngineClient, id: string, graceMs: number, signal: AbortSignal): Promise<void> {
  // The engine counts in seconds, and goes on when the connection is dropped.
  const seconds = Math.min(MAX_SECONDS, Math.max(0, Math.ceil(graceMs / 1000)));
  const deadlineMs = seconds * 1000 + client.requestTimeoutMs;
  try {
    await client.call(`POST /containers/${id}/stop?t=${seconds}`, deadlineMs, signal, (docker) =>
      docker.getContainer(id).stop({ t: seconds }),
    );
  } catch (error) {
    if (!isNotFound(error) && !isNotModified(error)) throw error;
  }
}
