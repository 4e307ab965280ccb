import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { parseImageName } from '../../model/image-name.ts';
import { RegistryUnavailableError } from '../../model/registry-unavailable-error.ts';
import type { ImageInfo, ImageService, PullProgress } from '../../ports/image-service.ts';
import { type CallGate, FakeEngineError } from './call-gate.ts';
import type { PullBehaviour } from './container-behaviour.ts';

/** As the image pull's progress deadline of the kubelet (--image-pull-progress-deadline, 1 min). */
const PROGRESS_DEADLINE_MS = 60_000;
const LAYERS = 4;

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** The image that a registry would have under this name: every name has one, always the same. */
function imageOf(image: string): ImageInfo {
  const { repo, tag } = parseImageName(image);
  const familiar = repo.replace(/^docker\.io\/(library\/)?/, '');
  const id = sha256(`image ${repo}:${tag}`);
  return {
    id,
    repoTags: tag === '' ? [] : [`${familiar}:${tag}`],
    repoDigests: [`${familiar}@${sha256(`manifest ${repo}:${tag}`)}`],
    sizeBytes: 1_000_000 + (Number.parseInt(id.slice(7, 13), 16) % 99_000_000),
    user: '',
  };
}

/** `docker.io/library/nginx:latest` for `nginx`; ids stay as they are. */
function canonical(image: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(image)) return image;
  const { repo, tag, digest } = parseImageName(image);
  return digest === '' ? `${repo}:${tag}` : `${repo}@${digest}`;
}

/** Nothing serves port 1, and no host is under .invalid (RFC 6761). */
const isUnreachable = (image: string): boolean => /^[^/]*(\.invalid(:\d+)?|:1)\//.test(image);

/** Images in memory: there are none at first, and the registry has every image, unless a behaviour says otherwise. */
export class FakeImages implements ImageService {
  readonly #gate: CallGate;
  readonly #clock: Clock;
  /** The ids of images that containers were made from. */
  readonly #used: () => ReadonlySet<string>;
  readonly #images = new Map<string, ImageInfo>();
  readonly #behaviours = new Map<string, PullBehaviour>();

  constructor(gate: CallGate, clock: Clock, used: () => ReadonlySet<string>) {
    this.#gate = gate;
    this.#clock = clock;
    this.#used = used;
  }

  script(image: string, behaviour: PullBehaviour | undefined): void {
    if (behaviour) this.#behaviours.set(canonical(image), behaviour);
    else this.#behaviours.delete(canonical(image));
  }

  /** By name, digest or id. */
  find(image: string): ImageInfo | undefined {
    const name = canonical(image);
    return this.#images.get(name) ?? [...this.#images.values()].find(({ id }) => id === name);
  }

  inspectImage(image: string, signal: AbortSignal): Promise<ImageInfo | undefined> {
    return this.#gate.pass('inspectImage', signal, () => this.find(image));
  }

  listImages(signal: AbortSignal): Promise<readonly ImageInfo[]> {
    return this.#gate.pass('listImages', signal, () => [...this.#images.values()]);
  }

  imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>> {
    return this.#gate.pass('imagesInUse', signal, () => this.#used());
  }

  removeImage(id: string, signal: AbortSignal): Promise<void> {
    return this.#gate.pass('removeImage', signal, () => {
      if (this.#used().has(id)) throw new FakeEngineError(`image ${id} is used by a container`);
      for (const [name, image] of this.#images) if (image.id === id) this.#images.delete(name);
    });
  }

  /** Its images have no files. */
  exportImage(imageRef: string, _directory: string, _maxBytes: number, signal: AbortSignal): Promise<void> {
    return this.#gate.pass('exportImage', signal, () => {
      if (!this.find(imageRef)) throw new FakeEngineError(`No such image: ${imageRef}`);
    });
  }

  pullImage(image: string, _credentials: unknown, onProgress: (progress: PullProgress) => void, signal: AbortSignal): Promise<string> {
    return this.#gate.pass('pullImage', signal, async (alive) => {
      const behaviour = this.#behaviours.get(canonical(image));
      if (isUnreachable(image)) throw new FakeEngineError(`dial tcp: ${image.split('/')[0]}: connection refused`);
      if (behaviour?.kind === 'fail') throw new FakeEngineError(behaviour.message);
      if (behaviour?.kind === 'unavailable') throw new RegistryUnavailableError();
      const info = imageOf(image);
      const bytes = info.sizeBytes;
      for (let layersDone = 0; layersDone <= LAYERS; layersDone++) {
        onProgress({ layersDone, layers: LAYERS, bytesDone: Math.floor((bytes * layersDone) / LAYERS), bytes });
        if (layersDone === LAYERS) break;
        if (behaviour?.kind === 'slow') await this.#clock.sleep(behaviour.ms / LAYERS, alive);
        if (behaviour?.kind === 'hang') {
          await this.#clock.sleep(PROGRESS_DEADLINE_MS, alive);
          throw new FakeEngineError(`pull of ${image}: no progress for 1m0s`);
        }
      }
      this.#images.set(canonical(image), info);
      return info.id;
    });
  }
}
