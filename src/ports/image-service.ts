/** Credentials for one registry. Never logged. */
export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
  readonly serverAddress?: string;
}

export interface ImageInfo {
  /** The engine's id, "sha256:…". */
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly sizeBytes: number;
  /** As the image's config names it: "", "1000", "1000:1000", "nobody". */
  readonly user: string;
}

/** One image of a listing. */
export interface ListedImage extends Pick<ImageInfo, 'id' | 'repoTags' | 'repoDigests' | 'sizeBytes'> {
  /** The engine needs it itself: it is never removed. */
  readonly pinned?: boolean;
}

export interface PullProgress {
  readonly layersDone: number;
  readonly layers: number;
  readonly bytesDone: number;
  readonly bytes: number;
}

/** The engine's images. Image names carry a tag or digest. */
export interface ImageService {
  /** Undefined when the engine does not have it. */
  inspectImage(image: string, signal: AbortSignal): Promise<ImageInfo | undefined>;
  /** Every image that the engine has, nameless ones included; one engine call. */
  listImages(signal: AbortSignal): Promise<readonly ListedImage[]>;
  /** Resolves with the image's id. No progress for the progress deadline rejects; so does an abort, and both stop the engine's download. */
  pullImage(
    image: string,
    credentials: RegistryCredentials | undefined,
    onProgress: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<string>;
  /** The ids of the images that containers were made from, dead ones and other people's included; one engine call. */
  imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * Removes an image with all its names; succeeds when it is already gone. Nothing is removed by force: rejects, and leaves it its names, where
   * a container was made from it, dead or alive.
   */
  removeImage(id: string, signal: AbortSignal): Promise<void>;
  /**
   * Writes the image's files, as a container of it would find them, into an empty directory of this machine; `imageRef` is what the engine
   * calls the image. Rejects where it lacks the image, or where the files and their names take more than `maxBytes`: some may be there then.
   */
  exportImage(imageRef: string, directory: string, maxBytes: number, signal: AbortSignal): Promise<void>;
}
