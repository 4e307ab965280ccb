import type { Clock } from '../../../base/clock.ts';
import type { ImageInfo, ImageService, ListedImage, PullProgress, RegistryCredentials } from '../../../ports/image-service.ts';
import { imageMatches } from '../../common/image-matches.ts';
import { ImageService as CriImages } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { imageInfo } from './image-info.ts';
import { inspectImage } from './inspect-image.ts';
import type { CriFeatures } from '../features/engine-features.ts';
import { PullActivity } from './pull-activity.ts';
import { pullImage } from './pull-image.ts';
import { imagesInUse, removeImage } from './remove-image.ts';

export interface CriImageServiceOptions {
  readonly client: Pick<CriClient, 'call' | 'endpoint'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule' | 'sleep'>;
  /** The sandboxes' image, which is kept for the next one; the runtime may have another one in its configuration, and may pin others. */
  readonly podInfraContainerImage: string;
  /** What the runtime has said of itself by now. */
  readonly lastFeatures: () => Pick<CriFeatures, 'sandboxImage' | 'unwatchedPullsIn'> | undefined;
  /** See PullImageDeps. */
  readonly imagePullProgressDeadlineMs: number;
}

/** The images of a runtime that speaks CRI. Errors carry the words of the runtime and the registry, never credentials. */
export class CriImageService implements ImageService {
  readonly #client: CriImageServiceOptions['client'];
  readonly #clock: CriImageServiceOptions['clock'];
  readonly #sandboxImage: string;
  readonly #lastFeatures: CriImageServiceOptions['lastFeatures'];
  readonly #progressDeadlineMs: number;

  constructor({ client, clock, podInfraContainerImage, lastFeatures, imagePullProgressDeadlineMs }: CriImageServiceOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#sandboxImage = podInfraContainerImage;
    this.#lastFeatures = lastFeatures;
    this.#progressDeadlineMs = imagePullProgressDeadlineMs;
  }

  inspectImage(image: string, signal: AbortSignal): Promise<ImageInfo | undefined> {
    return inspectImage(this.#client, image, signal);
  }

  /** Rejects where the listing is larger than a message may be. */
  async listImages(signal: AbortSignal): Promise<readonly ListedImage[]> {
    const { images } = await this.#client.call(CriImages.method.listImages, {}, signal);
    const kept = [this.#sandboxImage, this.#lastFeatures()?.sandboxImage ?? this.#sandboxImage];
    return images.flatMap((each) => {
      const { id, repoTags, repoDigests, sizeBytes } = imageInfo(each);
      const image = { id, repoTags, repoDigests, sizeBytes };
      // Nothing could be done to one without an id.
      return id === '' ? [] : [{ ...image, pinned: each.pinned || kept.some((name) => imageMatches(image, name)) }];
    });
  }

  imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>> {
    return imagesInUse(this.#client, signal);
  }

  removeImage(id: string, signal: AbortSignal): Promise<void> {
    return removeImage(this.#client, id, signal);
  }

  /** Without progress, which CRI does not tell. */
  async pullImage(
    image: string,
    credentials: RegistryCredentials | undefined,
    _onProgress: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<string> {
    const unwatchedIn = this.#lastFeatures()?.unwatchedPullsIn;
    const activity = unwatchedIn === undefined ? undefined : new PullActivity(unwatchedIn);
    const deps = { client: this.#client, clock: this.#clock, progressDeadlineMs: this.#progressDeadlineMs, activity };
    const ref = await pullImage(deps, image, credentials, signal);
    const pulled = (await this.inspectImage(image, signal)) ?? (ref === '' ? undefined : await this.inspectImage(ref, signal));
    if (pulled === undefined) throw new Error(`unable to inspect image ${image}`);
    return pulled.id;
  }

  /** CRI has no way to read an image's files. */
  exportImage(imageRef: string, _directory: string, _maxBytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { endpoint } = this.#client;
    return Promise.reject(
      new Error(
        `image ${imageRef} cannot be a volume: the container runtime at ${endpoint} mounts no images, and CRI has no other way to their files; containerd does from 2.1 on`,
      ),
    );
  }
}
