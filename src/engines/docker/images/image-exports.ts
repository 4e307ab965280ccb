import { aborted } from '../../../base/aborted.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Staged } from '../../../ports/staged.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { exportImage, removeLostExports } from './export-image.ts';

export interface ImageExportsDeps {
  readonly engine: EngineClient;
  /** --root-dir: all exports go into directories of pods, which are below it. */
  readonly rootDir: string;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

const RETRY_MS = 60_000;

/** Exports of images, and what is left of those that an agent before this one was killed in. */
export class ImageExports {
  readonly #deps: ImageExportsDeps;
  readonly #underWay = new Set<string>();

  constructor(deps: ImageExportsDeps) {
    this.#deps = deps;
  }

  /** See ImageService.exportImage. */
  async export(imageRef: string, directory: string, maxBytes: number, signal: AbortSignal): Promise<void> {
    this.#underWay.add(directory);
    try {
      await exportImage(this.#deps.engine, imageRef, directory, maxBytes, signal);
    } finally {
      this.#underWay.delete(directory);
    }
  }

  /** Removes what is left, once; an engine that does not answer is asked again a minute later. */
  get sweeper(): Staged {
    const { engine, rootDir, clock, log } = this.#deps;
    return {
      name: 'lost exports of images',
      stage: 'beside pods',
      run: async (signal) => {
        for (let isDone = false; !isDone && !signal.aborted;) {
          try {
            const removed = await removeLostExports(engine, rootDir, (directory) => this.#underWay.has(directory), signal);
            if (removed > 0) log.info('containers of exports that an agent was killed in removed', { containers: removed });
            isDone = true;
          } catch (error) {
            if (signal.aborted) break;
            log.v(2, 'containers of lost exports cannot be removed now, retrying', { error, retryInMs: RETRY_MS });
            await clock.sleep(RETRY_MS, signal).catch(() => {});
          }
        }
        await aborted(signal);
      },
    };
  }
}
