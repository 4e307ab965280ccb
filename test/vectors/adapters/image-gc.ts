import { silentLogger } from '../../../src/base/logger.ts';
import { ImageCollector } from '../../../src/images/image-collector.ts';
import { checkImageGcPolicy, type ImageGcPolicy } from '../../../src/images/image-gc-policy.ts';
import { ImageRecords } from '../../../src/images/image-records.ts';
import type { ListedImage } from '../../../src/ports/image-service.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

export interface ImageIn {
  readonly id: string;
  readonly size?: number;
  readonly firstDetectedSecAgo?: number | null;
  readonly lastUsedSecAgo?: number | null;
  readonly inUse?: boolean;
  readonly pinned?: boolean;
  readonly removeFails?: boolean;
}
export interface FileSystemIn {
  readonly capacityBytes?: number;
  readonly availableBytes?: number;
  readonly error?: string;
}
interface In {
  readonly op: 'garbageCollect' | 'deleteUnused';
  readonly policy: {
    readonly highThresholdPercent: number;
    readonly lowThresholdPercent: number;
    readonly minAgeSec: number;
    readonly maxAgeSec: number;
  };
  readonly kubeletAgeSec: number;
  readonly fs?: FileSystemIn | undefined;
  readonly images?: readonly ImageIn[] | undefined;
  readonly newImages?: readonly ImageIn[] | undefined;
}

export async function runImageGc({ op, policy: asked, kubeletAgeSec, fs = {}, images = [], newImages = [] }: In): Promise<unknown> {
  const policy: ImageGcPolicy = {
    highThresholdPercent: asked.highThresholdPercent,
    lowThresholdPercent: asked.lowThresholdPercent,
    minAgeMs: asked.minAgeSec * 1000,
    maxAgeMs: asked.maxAgeSec * 1000,
  };
  try {
    checkImageGcPolicy(policy);
  } catch (error) {
    return { policyError: (error as Error).message };
  }
  const clock = new FakeClock();
  const nowMs = clock.monotonicMs();
  const ago = (seconds: number | null | undefined): number =>
    seconds === null || seconds === undefined ? -Infinity : nowMs - seconds * 1000;
  const all = [...images, ...newImages];
  const listed = (image: ImageIn): ListedImage => ({
    id: image.id,
    repoTags: [],
    repoDigests: [],
    sizeBytes: image.size ?? 0,
    pinned: image.pinned ?? false,
  });
  const records = new ImageRecords(
    images.map((image) => ({
      image: listed(image),
      firstDetectedMs: ago(image.firstDetectedSecAgo),
      lastUsedMs: ago(image.lastUsedSecAgo),
    })),
  );
  const deleted: string[] = [];
  const events: string[] = [];
  const collector = new ImageCollector({
    images: {
      listImages: async () => all.map(listed),
      imagesInUse: async () => new Set(all.filter(({ inUse }) => inUse).map(({ id }) => id)),
    },
    remove: async ({ id }) => {
      if (all.find((image) => image.id === id)?.removeFails) throw new Error(`cannot remove ${id}`);
      deleted.push(id);
    },
    isWanted: () => false,
    records,
    policy: () => policy,
    clock,
    log: silentLogger,
    warn: (reason, message) => events.push(`Warning ${reason} ${message}`),
    tell: { imageRemoved: () => {} },
  });
  const { signal } = new AbortController();
  const measured = async (): Promise<FileSystemIn> => {
    if (fs.error !== undefined) throw new Error(fs.error);
    return fs;
  };
  const { freedBytes, error } =
    op === 'deleteUnused' ? await collector.removeUnused(signal) : await collector.collect(kubeletAgeSec * 1000, measured, signal);
  return { deleted, freedBytes, error, events: events.length > 0 ? events : undefined };
}
