import type { Readable } from 'node:stream';
import type { ContainerInfo } from 'dockerode';
import type { Clock } from '../../../base/clock.ts';
import { deadline } from '../../../base/deadline.ts';
import type { Logger } from '../../../base/logger.ts';
import { formatGoDuration } from '../../../model/go-duration.ts';
import { quote } from '../../../model/go-text.ts';
import { RegistryUnavailableError } from '../../../model/registry-unavailable-error.ts';
import type { ImageInfo, ImageService, ListedImage, PullProgress, RegistryCredentials } from '../../../ports/image-service.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { daemonWords, EngineResponseError } from '../client/engine-errors.ts';
import { imageMatches } from '../../common/image-matches.ts';
import type { ImageExports } from './image-exports.ts';
import { removeImage } from './remove-image.ts';
import { inspectImage } from '../client/inspect-image.ts';
import { jsonLines } from '../client/json-lines.ts';
import { wholeContainers, wholeImages } from '../client/whole-answers.ts';
import { PullLedger, type PullMessage } from './pull-ledger.ts';

export interface DockerImageServiceOptions {
  readonly engine: EngineClient;
  readonly exports: Pick<ImageExports, 'export'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** The sandboxes' image, which is kept for the next one. */
  readonly podInfraContainerImage: string;
  /** A pull that makes no progress for so long is given up. */
  readonly imagePullProgressDeadlineMs: number;
}

/** The Docker engine's images. Errors carry the words of the daemon and the registry, never credentials. */
export class DockerImageService implements ImageService {
  readonly #engine: EngineClient;
  readonly #exports: DockerImageServiceOptions['exports'];
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #sandboxImage: string;
  readonly #progressDeadlineMs: number;

  constructor({ engine, exports, clock, log, podInfraContainerImage, imagePullProgressDeadlineMs }: DockerImageServiceOptions) {
    this.#engine = engine;
    this.#exports = exports;
    this.#clock = clock;
    this.#log = log;
    this.#sandboxImage = podInfraContainerImage;
    this.#progressDeadlineMs = imagePullProgressDeadlineMs;
  }

  async inspectImage(image: string, signal: AbortSignal): Promise<ImageInfo | undefined> {
    const found = await inspectImage(this.#engine, image, signal);
    if (found === undefined) return undefined;
    const info: ImageInfo = {
      id: found.Id,
      repoTags: found.RepoTags,
      repoDigests: found.RepoDigests,
      sizeBytes: found.Size,
      user: found.Config.User,
    };
    return imageMatches(info, image) ? info : undefined;
  }

  async listImages(signal: AbortSignal): Promise<readonly ListedImage[]> {
    const listed = await this.#engine.call('GET /images/json', this.#engine.requestTimeoutMs, signal, (docker) => docker.listImages());
    // A nameless image has none, or names of the form <none>:<none>.
    const named = (names: readonly string[] | undefined): readonly string[] => (names ?? []).filter((name) => !name.includes('<none>'));
    return wholeImages(listed).map(({ Id, RepoTags, RepoDigests, Size }) => {
      const image = { id: Id, repoTags: named(RepoTags), repoDigests: named(RepoDigests), sizeBytes: Size };
      return { ...image, pinned: imageMatches(image, this.#sandboxImage) };
    });
  }

  async imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const listed = await this.#engine.call('GET /containers/json', this.#engine.requestTimeoutMs, signal, (docker) =>
      docker.listContainers({ all: true }),
    );
    // An image that a container only sees is among its mounts.
    const seen = ({ Mounts }: ContainerInfo): readonly string[] =>
      (Mounts ?? []).flatMap(({ Type, Source, Name }) => (Type === 'image' ? [Source, Name ?? ''] : []));
    return new Set(wholeContainers(listed).flatMap((container) => [container.ImageID, ...seen(container)]));
  }

  removeImage(id: string, signal: AbortSignal): Promise<void> {
    return removeImage(this.#engine, id, signal);
  }

  async pullImage(
    image: string,
    credentials: RegistryCredentials | undefined,
    onProgress: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<string> {
    signal.throwIfAborted();
    const ledger = new PullLedger();
    const deadlineMs = this.#progressDeadlineMs;
    // As pkg/kubelet/dockershim/libdocker/kube_docker_client.go words it.
    const noProgress = (): Error => {
      const duration = formatGoDuration(BigInt(Math.round(deadlineMs * 1e6)));
      return new Error(
        `Cancel pulling image ${quote(image)} because of no progress for ${duration}, latest progress: ${quote(ledger.latest)}`,
      );
    };
    using stop = deadline(this.#clock, deadlineMs, noProgress, signal);
    try {
      for await (const message of jsonLines(await this.#startPull(image, credentials, stop.signal))) {
        stop.extend(deadlineMs);
        throwIfError(message);
        if (ledger.add(message)) onProgress(ledger.progress);
      }
    } catch (error) {
      stop.signal.throwIfAborted();
      throw error instanceof EngineResponseError ? new Error(daemonWords(error), { cause: error }) : error;
    } finally {
      // Ends the engine's download, should the stream have been left before its end.
      stop.abort();
    }
    this.#log.v(2, 'image pull ended', { image, latest: ledger.latest });
    const pulled = await this.inspectImage(image, signal);
    if (pulled === undefined) throw new Error(`unable to inspect image ${image}`);
    return pulled.id;
  }

  exportImage(imageRef: string, directory: string, maxBytes: number, signal: AbortSignal): Promise<void> {
    return this.#exports.export(imageRef, directory, maxBytes, signal);
  }

  async #startPull(image: string, credentials: RegistryCredentials | undefined, signal: AbortSignal): Promise<Readable> {
    const auth = credentials && {
      username: credentials.username,
      password: credentials.password,
      ...(credentials.serverAddress === undefined ? {} : { serveraddress: credentials.serverAddress }),
    };
    const { name, tag } = splitReference(image);
    // The progress deadline speaks first: this call's own deadline is only there because every call has one.
    const deadlineMs = this.#progressDeadlineMs + this.#engine.requestTimeoutMs;
    return this.#engine.open(`POST /images/create?fromImage=${image}`, deadlineMs, signal, (docker) =>
      docker.createImage(auth, { _query: { fromImage: name, tag }, _body: {} }),
    );
  }
}

/** The engine's API takes the name and, as its "tag", the digest or else the tag. */
function splitReference(image: string): { readonly name: string; readonly tag: string } {
  const [beforeDigest = '', digest] = image.split('@', 2);
  const colon = beforeDigest.lastIndexOf(':');
  const tagged = colon > beforeDigest.lastIndexOf('/');
  const name = tagged ? beforeDigest.slice(0, colon) : beforeDigest;
  return { name, tag: digest ?? (tagged ? beforeDigest.slice(colon + 1) : '') };
}

/** A pull that fails midway says so in its stream, after a status of 200. */
function throwIfError({ error, errorDetail }: PullMessage): void {
  const detail = typeof errorDetail === 'object' && errorDetail !== null ? errorDetail : {};
  const message = 'message' in detail && typeof detail.message === 'string' ? detail.message : error;
  if (typeof message !== 'string') return;
  // Gateways answer with a page of HTML: the reason says it better (filterHTTPError in pkg/kubelet/dockershim/docker_image.go).
  const code = 'code' in detail ? detail.code : undefined;
  if (code === 502 || code === 503 || code === 504) throw new RegistryUnavailableError(`RegistryUnavailable: ${message}`);
  throw new Error(message);
}
