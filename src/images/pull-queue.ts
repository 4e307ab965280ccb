import { hash } from 'node:crypto';
import type { ImageService, PullProgress, RegistryCredentials } from '../ports/image-service.ts';
import { pullWithCredentials } from './pull-with-credentials.ts';

export interface PullQueueOptions {
  readonly images: Pick<ImageService, 'pullImage'>;
  /** registryPullQPS and registryBurst; undefined: no limit. */
  readonly limiter: { tryAcquire(): boolean } | undefined;
  /** 1 is serializeImagePulls; undefined: no cap. */
  readonly maxParallelPulls: number | undefined;
}

export interface PullListener {
  /** The pull has to wait its turn behind `ahead` others. */
  onQueued(ahead: number): void;
  onProgress(progress: PullProgress): void;
}

interface Waiter {
  readonly listener: PullListener;
  readonly settle: (result: () => string) => void;
}
interface Pull {
  readonly key: string;
  readonly image: string;
  readonly credentials: readonly RegistryCredentials[];
  readonly waiters: Set<Waiter>;
  readonly stop: AbortController;
}

/**
 * Which pulls run now and which wait.
 *
 * Invariants: at most `maxParallelPulls` run, the others start in the order asked. Asks for the same image with the same credentials share
 * one pull as long as it has not ended. A pull that nobody waits for any more is stopped, or never starts.
 */
export class PullQueue {
  readonly #options: PullQueueOptions;
  readonly #pulls = new Map<string, Pull>();
  readonly #queued: Pull[] = [];
  #running = 0;

  constructor(options: PullQueueOptions) {
    this.#options = options;
  }

  /** Resolves with the image's id. Rejects at once with "pull QPS exceeded" when it is this pull's turn and the limiter refuses (pkg/kubelet/images/helpers.go). */
  async pull(image: string, credentials: readonly RegistryCredentials[], listener: PullListener, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const key = hash('sha256', JSON.stringify([image, credentials]));
    const pull = this.#pulls.get(key) ?? this.#enqueue({ key, image, credentials, waiters: new Set(), stop: new AbortController() });
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        pull.waiters.delete(waiter);
        reject(signal.reason);
        if (pull.waiters.size === 0) this.#abandon(pull, signal.reason);
      };
      const waiter: Waiter = {
        listener,
        settle: (result) => {
          signal.removeEventListener('abort', onAbort);
          try {
            resolve(result());
          } catch (error) {
            reject(error);
          }
        },
      };
      pull.waiters.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#startNext();
      const place = this.#queued.indexOf(pull);
      if (place >= 0) listener.onQueued(this.#running + place);
    });
  }

  #enqueue(pull: Pull): Pull {
    this.#pulls.set(pull.key, pull);
    this.#queued.push(pull);
    return pull;
  }

  #abandon(pull: Pull, reason: unknown): void {
    // Whoever asks from now on gets a pull of his own, not one that is being stopped.
    this.#pulls.delete(pull.key);
    const place = this.#queued.indexOf(pull);
    if (place >= 0) this.#queued.splice(place, 1);
    else pull.stop.abort(reason);
  }

  #startNext(): void {
    while (this.#running < (this.#options.maxParallelPulls ?? Infinity)) {
      const pull = this.#queued.shift();
      if (pull === undefined) return;
      if (this.#options.limiter?.tryAcquire() === false) {
        this.#settle(pull, () => {
          throw new Error('pull QPS exceeded');
        });
        continue;
      }
      this.#running++;
      void this.#run(pull);
    }
  }

  async #run(pull: Pull): Promise<void> {
    const onProgress = (progress: PullProgress): void => {
      for (const { listener } of pull.waiters) listener.onProgress(progress);
    };
    try {
      const id = await pullWithCredentials(this.#options.images, pull.image, pull.credentials, onProgress, pull.stop.signal);
      this.#settle(pull, () => id);
    } catch (error) {
      this.#settle(pull, () => {
        throw error;
      });
    } finally {
      this.#running--;
      this.#startNext();
    }
  }

  #settle(pull: Pull, result: () => string): void {
    if (this.#pulls.get(pull.key) === pull) this.#pulls.delete(pull.key);
    for (const { settle } of pull.waiters) settle(result);
    pull.waiters.clear();
  }
}
