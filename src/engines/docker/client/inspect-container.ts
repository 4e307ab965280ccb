import type { ContainerInspectInfo } from 'dockerode';
import type { EngineClient } from './engine-client.ts';
import { isNotFound } from './engine-errors.ts';
import { wholeContainer } from './whole-answers.ts';

/** By id or name; undefined when there is none. */
export async function inspectContainer(
  client: EngineClient,
  idOrName: string,
  signal: AbortSignal,
): Promise<ContainerInspectInfo | undefined> {
  try {
    const answer = await client.call(`GET /containers/${idOrName}/json`, client.requestTimeoutMs, signal, (docker) =>
      docker.getContainer(idOrName).inspect(),
    );
    return wholeContainer(answer);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
