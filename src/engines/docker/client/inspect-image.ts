import type { ImageInspectInfo } from 'dockerode';
import type { EngineClient } from './engine-client.ts';
import { isNotFound } from './engine-errors.ts';
import { wholeImage } from './whole-answers.ts';

/** By id or name; undefined when the engine does not have it. */
export async function inspectImage(client: EngineClient, image: string, signal: AbortSignal): Promise<ImageInspectInfo | undefined> {
  try {
    const answer = await client.call(`GET /images/${image}/json`, client.requestTimeoutMs, signal, (docker) =>
      docker.getImage(image).inspect(),
    );
    return wholeImage(answer);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
