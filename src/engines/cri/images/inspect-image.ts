import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { quote } from '../../../model/go-text.ts';
import type { ImageInfo } from '../../../ports/image-service.ts';
import { ImageService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { imageInfo } from './image-info.ts';

/** By id or name; undefined when the runtime does not have it. Which names mean an image is the runtime's to say, as it is for a kubelet. */
export async function inspectImage(client: Pick<CriClient, 'call'>, image: string, signal: AbortSignal): Promise<ImageInfo | undefined> {
  try {
    const { image: found } = await client.call(ImageService.method.imageStatus, { image: { image } }, signal);
    if (found === undefined) return undefined;
    // As pkg/kubelet/cri/remote/remote_image.go has it.
    if (found.id === '' || found.size === 0n) throw new Error(`Id or size of image ${quote(image)} is not set`);
    return imageInfo(found);
  } catch (error) {
    if (isGrpcError(error, 'NotFound')) return undefined;
    throw error;
  }
}
