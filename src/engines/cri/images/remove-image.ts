import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { type Container, ImageService, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

type Client = Pick<CriClient, 'call'>;

/**
 * Removes an image with all its names. See ImageService.removeImage of the ports. containerd would take the names of an image that containers
 * were made from as well, so these are asked for before.
 */
export async function removeImage(client: Client, id: string, signal: AbortSignal): Promise<void> {
  const { containers } = await client.call(RuntimeService.method.listContainers, {}, signal);
  const user = containers.find((container) => namesOf(container).includes(id));
  if (user !== undefined) throw new Error(`image ${id} is used by container ${user.metadata?.name ?? ''} (${user.id})`);
  try {
    await client.call(ImageService.method.removeImage, { image: { image: id } }, signal);
  } catch (error) {
    if (!isGrpcError(error, 'NotFound')) throw error;
  }
}

/** The images that containers were made from, dead ones included. */
export async function imagesInUse(client: Client, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { containers } = await client.call(RuntimeService.method.listContainers, {}, signal);
  return new Set(containers.flatMap(namesOf));
}

/** Newer runtimes say the id in a field of its own, older ones as the reference. */
const namesOf = ({ imageId, imageRef }: Container): readonly string[] => [imageId, imageRef].filter((name) => name !== '');
