import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { EventReason } from '../ports/event-recorder.ts';
import type { FilesystemStats, PodStats } from '../ports/pod-stats.ts';
import type { ImageCollection, ImageCollector } from './image-collector.ts';

/** How often the kubelet looks (pkg/kubelet/kubelet.go ImageGCPeriod). */
const PERIOD_MS = 5 * 60_000;

export interface ImageCollectionDependencies {
  readonly collector: Pick<ImageCollector, 'detect' | 'collect' | 'removeUnused'>;
  /** After each look: what is known of images that are gone is forgotten. */
  readonly tidy: (signal: AbortSignal) => Promise<void>;
  /** Neither threshold nor age can ever ask for a removal: images are only looked at. */
  readonly disabled: () => boolean;
  /** Whether it is known which pods are wanted here. */
  readonly isSynced: () => boolean;
  readonly clock: Pick<Clock, 'sleep' | 'monotonicMs'>;
  readonly log: Logger;
  /** A warning about the node. */
  readonly warn: (reason: EventReason, message: string) => void;
}

/** The times at which images are collected: now and then, and when the node asks for their space. One at a time. */
export class ImageCollections {
  readonly #needs: ImageCollectionDependencies;
  #last: Promise<unknown> = Promise.resolve();
  #failedBefore = false;
  #hasMissedFs = false;
  readonly #faults = new OngoingFaults<'tidy'>();

  constructor(needs: ImageCollectionDependencies) {
    this.#needs = needs;
  }

  /**
   * Looks at the images now and every 5 minutes, and from the second time on removes what is too much, once every source has said which pods
   * it wants: what these name stays.
   */
  async run(stats: Pick<PodStats, 'node'>, signal: AbortSignal): Promise<void> {
    const { collector, disabled, isSynced, clock } = this.#needs;
    const beganMs = clock.monotonicMs();
    await this.#step(async () => {
      await collector.detect(signal);
      return { freedBytes: 0 };
    }, signal);
    while (!signal.aborted) {
      await clock.sleep(PERIOD_MS, signal).catch(() => {});
      if (signal.aborted) return;
      await this.#step(async () => {
        if (!disabled() && isSynced()) return collector.collect(clock.monotonicMs() - beganMs, () => this.#imageFs(stats, signal), signal);
        await collector.detect(signal);
        return { freedBytes: 0 };
      }, signal);
    }
  }

  /** Resolves with the bytes that were freed: none before it is known which pods are wanted. What went wrong is logged. */
  async removeUnused(signal: AbortSignal): Promise<number> {
    const { collector, isSynced, log } = this.#needs;
    if (!isSynced()) return 0;
    const { freedBytes, error } = await this.#alone(() => collector.removeUnused(signal), signal);
    if (error !== undefined) log.warn('not all unused images could be removed', { error });
    return freedBytes;
  }

  async #imageFs(stats: Pick<PodStats, 'node'>, signal: AbortSignal): Promise<FilesystemStats | undefined> {
    const { imageFs } = await stats.node(signal);
    if (imageFs === undefined && !this.#hasMissedFs) {
      this.#needs.log.info('images are removed only for their age: the engine does not say where it keeps them, or not on this machine');
    }
    this.#hasMissedFs = imageFs === undefined;
    return imageFs;
  }

  /** Only what fails twice in a row is an event: at first the node may not have been measured yet (pkg/kubelet StartGarbageCollection). */
  async #step(collect: () => Promise<ImageCollection>, signal: AbortSignal): Promise<void> {
    const { log, warn } = this.#needs;
    const error = await this.#alone(collect, signal).then(
      (done) => done.error,
      (thrown: unknown) => errorText(thrown),
    );
    if (signal.aborted) return;
    if (error === undefined) {
      if (this.#failedBefore) log.info('images are collected again');
    } else if (this.#failedBefore) {
      warn('ImageGCFailed', error);
    } else {
      log.warn('images cannot be collected as they should be; trying again in 5 minutes', { error });
    }
    this.#failedBefore = error !== undefined;
    await this.#tidy(signal);
  }

  async #tidy(signal: AbortSignal): Promise<void> {
    const { tidy, log } = this.#needs;
    try {
      await tidy(signal);
      this.#faults.over('tidy');
    } catch (error) {
      if (signal.aborted || !this.#faults.fault('tidy', error)) return;
      log.warn('records of images that are gone are not removed; trying again in 5 minutes', { error });
    }
  }

  async #alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#last;
    const own = (async () => {
      await before;
      signal.throwIfAborted();
      return work();
    })();
    this.#last = own.catch(() => {});
    return own;
  }
}
