import type { ListedImage } from '../ports/image-service.ts';

/** An image and what is known of its use. Times are the clock's monotonic ones; -Infinity: before the agent began, or never. */
export interface ImageRecord {
  readonly image: ListedImage;
  readonly firstDetectedMs: number;
  readonly lastUsedMs: number;
}

/** What has been seen of the engine's images since the agent began. Those that are there already then count as old. */
export class ImageRecords {
  #records: ReadonlyMap<string, ImageRecord>;
  #hasLooked: boolean;

  constructor(known: readonly ImageRecord[] = []) {
    this.#records = new Map(known.map((record) => [record.image.id, record]));
    this.#hasLooked = known.length > 0;
  }

  /** Takes note of one listing: what is no longer there is forgotten. */
  detect(listed: readonly ListedImage[], inUse: ReadonlySet<string>, nowMs: number): void {
    const detectedMs = this.#hasLooked ? nowMs : Number.NEGATIVE_INFINITY;
    this.#hasLooked = true;
    this.#records = new Map(
      listed.map((image) => {
        const before = this.#records.get(image.id);
        const lastUsedMs = inUse.has(image.id) ? nowMs : (before?.lastUsedMs ?? Number.NEGATIVE_INFINITY);
        return [image.id, { image, firstDetectedMs: before?.firstDetectedMs ?? detectedMs, lastUsedMs }];
      }),
    );
  }

  /** What may be removed: the longest unused first, and of these what was detected first (byLastUsedAndDetected in pkg/kubelet/images). */
  unused(inUse: ReadonlySet<string>): readonly ImageRecord[] {
    return [...this.#records.values()]
      .filter(({ image }) => !inUse.has(image.id) && image.pinned !== true)
      .toSorted((a, b) => order(a.lastUsedMs, b.lastUsedMs) || order(a.firstDetectedMs, b.firstDetectedMs));
  }
}

/** As their difference, also of two infinities. */
const order = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
