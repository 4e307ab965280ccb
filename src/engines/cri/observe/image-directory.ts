import { ImageService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/** Where the runtime keeps images and what containers write: the file system that eviction looks after. Undefined when it does not say. */
export async function imageDirectory(client: Pick<CriClient, 'call'>, signal: AbortSignal): Promise<string | undefined> {
  const { imageFilesystems } = await client.call(ImageService.method.imageFsInfo, {}, signal);
  return imageFilesystems[0]?.fsId?.mountpoint || undefined;
}

/** What images take there, as a kubelet reports it (pkg/kubelet/stats ImageFsStats). Undefined when it does not say. */
export async function imageBytes(client: Pick<CriClient, 'call'>, signal: AbortSignal): Promise<number | undefined> {
  const { imageFilesystems } = await client.call(ImageService.method.imageFsInfo, {}, signal);
  const used = imageFilesystems[0]?.usedBytes;
  return used && Number(used.value);
}
