import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { formatGoDuration } from '../model/go-duration.ts';
import type { EventReason } from '../ports/event-recorder.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { ImageService, ListedImage } from '../ports/image-service.ts';
import type { FilesystemStats } from '../ports/pod-stats.ts';
import type { ImageGcPolicy } from './image-gc-policy.ts';
import type { ImageRecord, ImageRecords } from './image-records.ts';
import { FileSystemNumbersError, type SpaceToFree, spaceToFree } from './space-to-free.ts';

export interface ImageCollectorDependencies {
  readonly images: Pick<ImageService, 'listImages' | 'imagesInUse'>;
  readonly remove: (image: ListedImage, signal: AbortSignal) => Promise<void>;
  /** Whether a container may be about to be made from it. Asked right before each removal. */
  readonly isWanted: (image: ListedImage) => boolean;
  readonly records: ImageRecords;
  /** As it is now. */
  readonly policy: () => ImageGcPolicy;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
  /** A warning about the node. */
  readonly warn: (reason: EventReason, message: string) => void;
  readonly tell: Pick<Happenings, 'imageRemoved'>;
}

export interface ImageCollection {
  readonly freedBytes: number;
  /** In the kubelet's words: why that is not all that should have been freed. */
  readonly error?: string;
}

type Measured = Pick<FilesystemStats, 'availableBytes' | 'capacityBytes'>;
type Reason = 'age' | 'space';

interface Removed {
  readonly freedBytes: number;
  /** Of those that were tried, also without success. */
  readonly tried: ReadonlySet<ListedImage>;
  readonly errors: readonly string[];
}

/** What DeleteUnusedImages wants to free: Go's largest int64. */
const ALL = 2 ** 63;

/**
 * Removes images that nothing uses, as the kubelet does (pkg/kubelet/images/image_gc_manager.go). What it adds: an image that a pod which
 * has not ended names stays, numbers of a file system that are none are never a full disk, and an old image that cannot be removed keeps
 * no other from being.
 */
export class ImageCollector {
  readonly #needs: ImageCollectorDependencies;

  constructor(needs: ImageCollectorDependencies) {
    this.#needs = needs;
  }

  /** Looks at what is there and what is used, and removes nothing. Rejects where the engine does not say. */
  async detect(signal: AbortSignal): Promise<void> {
    await this.#unused(signal);
  }

  /**
   * `upMs`: for how long the agent has been collecting. `measure`: the file system that holds the images; undefined: it is not here, and only
   * ages count. Rejects where the engine does not answer, or nothing can be measured.
   */
  async collect(upMs: number, measure: () => Promise<Measured | undefined>, signal: AbortSignal): Promise<ImageCollection> {
    const { policy, clock } = this.#needs;
    const { maxAgeMs } = policy();
    const unused = await this.#unused(signal);
    const nowMs = clock.monotonicMs();
    const isOld = ({ lastUsedMs }: ImageRecord): boolean => maxAgeMs > 0 && upMs > maxAgeMs && nowMs - lastUsedMs > maxAgeMs;
    const old = await this.#removeEach(unused.filter(isOld), 'age', Number.POSITIVE_INFINITY, signal);
    const fs = await measure();
    const needed = fs && this.#needed(fs);
    if (typeof needed === 'string') return { freedBytes: old.freedBytes, error: needed };
    const left = unused.filter(({ image }) => !old.tried.has(image));
    const young = needed && (await this.#free(left, nowMs, needed.bytes, signal));
    const freedBytes = old.freedBytes + (young?.freedBytes ?? 0);
    if (old.errors.length > 0) {
      const age = formatGoDuration(BigInt(Math.round(maxAgeMs)) * 1_000_000n);
      return {
        freedBytes,
        error: `wanted to free images older than ${age}, encountered errors in image deletion: ${aggregate(old.errors)}`,
      };
    }
    return { freedBytes, ...(needed && young && this.#shortfall(needed, young)) };
  }

  /** All that nothing uses and that is not too young. Rejects where the engine does not say. */
  async removeUnused(signal: AbortSignal): Promise<ImageCollection> {
    const unused = await this.#unused(signal);
    const { freedBytes, errors } = await this.#free(unused, this.#needs.clock.monotonicMs(), ALL, signal);
    return { freedBytes, ...(errors.length > 0 && { error: deletionErrors(ALL, freedBytes, errors) }) };
  }

  async #unused(signal: AbortSignal): Promise<readonly ImageRecord[]> {
    const { images, records, clock } = this.#needs;
    // First the images, then their use: what comes in between is seen as used, or not at all.
    const listed = await images.listImages(signal);
    const inUse = await images.imagesInUse(signal);
    records.detect(listed, inUse, clock.monotonicMs());
    return records.unused(inUse);
  }

  /** Undefined: nothing. In words: the numbers say nothing. */
  #needed(fs: Measured): SpaceToFree | string | undefined {
    try {
      return spaceToFree(fs, this.#needs.policy());
    } catch (error) {
      if (!(error instanceof FileSystemNumbersError)) throw error;
      this.#needs.warn('InvalidDiskCapacity', error.message);
      return error.message;
    }
  }

  #free(unused: readonly ImageRecord[], nowMs: number, bytes: number, signal: AbortSignal): Promise<Removed> {
    const { minAgeMs } = this.#needs.policy();
    const grown = unused.filter(({ firstDetectedMs }) => nowMs - firstDetectedMs >= minAgeMs);
    return this.#removeEach(grown, 'space', bytes, signal);
  }

  /** One after the other until so many bytes are free. One that cannot be removed is reported, and the next is. */
  async #removeEach(records: readonly ImageRecord[], reason: Reason, bytes: number, signal: AbortSignal): Promise<Removed> {
    const { remove, isWanted, log, tell } = this.#needs;
    const tried = new Set<ListedImage>();
    const errors: string[] = [];
    let freedBytes = 0;
    for (const { image } of records) {
      if (isWanted(image)) continue;
      tried.add(image);
      try {
        await remove(image, signal);
      } catch (error) {
        signal.throwIfAborted();
        log.warn('an unused image cannot be removed', { image: nameOf(image), error });
        errors.push(errorText(error));
        continue;
      }
      const sizeBytes = sizeOf(image);
      freedBytes += sizeBytes;
      log.info('unused image removed', { image: nameOf(image), id: image.id, sizeBytes, reason });
      tell.imageRemoved({ sizeBytes, reason });
      if (freedBytes >= bytes) break;
    }
    return { freedBytes, tried, errors };
  }

  /** What is said when less came free than should have. */
  #shortfall({ bytes, usedPercent, capacityBytes }: SpaceToFree, { freedBytes, errors }: Removed): { readonly error?: string } {
    if (errors.length > 0) return { error: deletionErrors(bytes, freedBytes, errors) };
    if (freedBytes >= bytes) return {};
    const error =
      `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${formatSize(capacityBytes)} used). ` +
      `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes). ` +
      'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';
    this.#needs.warn('FreeDiskSpaceFailed', error);
    return { error };
  }
}

/** Bytes; 0 where the engine's number is none. */
const sizeOf = ({ sizeBytes }: ListedImage): number => (Number.isFinite(sizeBytes) ? Math.max(0, sizeBytes) : 0);

const nameOf = ({ id, repoTags, repoDigests }: ListedImage): string => repoTags[0] ?? repoDigests[0] ?? id;

/** "1.5 GiB" */
function formatSize(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  if (bytes < 1024) return `${bytes} B`;
  const exponent = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** exponent).toFixed(1)} ${units[exponent - 1]}`;
}

const deletionErrors = (bytes: number, freed: number, errors: readonly string[]): string =>
  `wanted to free ${BigInt(bytes)} bytes, but freed ${freed} bytes space with errors in image deletion: ${aggregate(errors)}`;

/** As Kubernetes' aggregates read: several as "[a, b]", without repeats. */
function aggregate(errors: readonly string[]): string {
  const different = [...new Set(errors)];
  return different.length === 1 ? different.join() : `[${different.join(', ')}]`;
}
