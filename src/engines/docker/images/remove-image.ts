import type { ImageRemoveOptions } from 'dockerode';
import type { EngineClient } from '../client/engine-client.ts';
import { daemonWords, isNotFound } from '../client/engine-errors.ts';
import { inspectImage } from '../client/inspect-image.ts';
import { wholeContainers } from '../client/whole-answers.ts';

/**
 * Removes an image with all its names. See ImageService.removeImage. Names go first, as the engine refuses an id with several; so that none
 * goes of an image that stays, its containers are asked for before.
 */
export async function removeImage(client: EngineClient, id: string, signal: AbortSignal): Promise<void> {
  const image = await inspectImage(client, id, signal);
  if (image === undefined) return;
  // By the id as Podman wants it as well.
  const filters = { ancestor: [id.replace(/^sha256:/, '')] };
  const users = await client.call('GET /containers/json', client.requestTimeoutMs, signal, (docker) =>
    docker.listContainers({ all: true, filters }),
  );
  const user = wholeContainers(users)[0];
  if (user !== undefined) throw new Error(`image ${id} is used by container ${user.Names[0]?.replace(/^\//, '') ?? user.Id}`);
  for (const name of [...image.RepoTags, ...image.RepoDigests, id]) await removeName(client, name, signal);
}

/** The last one takes the image with it. */
async function removeName(client: EngineClient, name: string, signal: AbortSignal): Promise<void> {
  try {
    // Layers of its own build go, too, that have no name: the engine keeps those that others need.
    const options: ImageRemoveOptions = { force: false, noprune: false };
    await client.call(`DELETE /images/${name}`, client.requestTimeoutMs, signal, (docker) => docker.getImage(name).remove(options));
  } catch (error) {
    if (!isNotFound(error)) throw new Error(daemonWords(error), { cause: error });
  }
}
