import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import { abortable } from '../base/abortable.ts';
import type { ImageService, PullProgress, RegistryCredentials } from '../ports/image-service.ts';
import { type PulledImage, pullWithCredentials } from './pull-with-credentials.ts';

export interface PullQueueOptions {
  readonly images: Pick<ImageService, 'pullImage'>;
  /** registryPullQPS and registryBurst; undefined: no limit. */
  readonly limiter: { tryAcquire(): boolean } | undefined;
  /** 1 is serializeImagePulls; undefined: no cap. */
  readonly maxParallelPulls: () => number | undefined;
}

export interface PullListener {
  /** The pull has to wait its turn behind `ahead` others. */
  onQueued(ahead: number): void;
  /** It is the pull's turn. */
  onStarted?(): void;
  onProgress(progress: PullProgress): void;
}

interface Waiter {
  readonly listener: PullListener;
  readonly resolve: (pulled: PulledImage) => void;
  readonly reject: (reason: unknown) => void;
}

interface Pull {
  readonly key: string;
  readonly image: string;
  readonly credentials: readonly RegistryCredentials[];
  readonly waiters: Set<Waiter>;
  readonly stop: AbortController;
  /** Runs something in the name of the one who asked first: its turn comes when another pull ends. */
  readonly asAsked: <T>(run: () => T) => T;
}

/**
 * Which pulls run now and which wait.
 *
 * Invariants: at most `maxParallelPulls` run, the others start in the order asked. Asks for the same image with the same credentials share
 * one pull as long as it has not ended. A pull that is no longer waited for is stopped, or never starts.
 */
export class PullQueue {
  readonly #options: PullQueueOptions;
  readonly #pulls = new Map<string, Pull>();
  readonly #queued: Pull[] = [];
  #running = 0;

  constructor(options: PullQueueOptions) {
    this.#options = options;
  }

  /** Rejects at once with "pull QPS exceeded" when it is this pull's turn and the limiter refuses (pkg/kubelet/images/helpers.go). */
  pull(image: string, credentials: readonly RegistryCredentials[], listener: PullListener, signal: AbortSignal): Promise<PulledImage> {
    return abortable(signal, (resolve, reject) => {
      const key = hash('sha256', JSON.stringify([image, credentials]));
      const pull =
        this.#pulls.get(key) ??
        this.#enqueue({ key, image, credentials, waiters: new Set(), stop: new AbortController(), asAsked: AsyncLocalStorage.snapshot() });
      const waiter: Waiter = { listener, resolve, reject };
      pull.waiters.add(waiter);
      this.#startNext();
      const place = this.#queued.indexOf(pull);
      if (place >= 0) listener.onQueued(this.#running + place);
      return (aborted) => {
        pull.waiters.delete(waiter);
        if (aborted && pull.waiters.size === 0) this.#abandon(pull, signal.reason);
      };
    });
  }

  /** The cap may be another one: those that wait and may run now do. */
  startWaiting(): void {
    this.#startNext();
  }

  #enqueue(pull: Pull): Pull {
    this.#pulls.set(pull.key, pull);
    this.#queued.push(pull);
    return pull;
  }

  #abandon(pull: Pull, reason: unknown): void {
    // What is asked for from now on gets a pull of its own, not one that is being stopped.
    this.#pulls.delete(pull.key);
    const place = this.#queued.indexOf(pull);
    if (place >= 0) this.#queued.splice(place, 1);
    else pull.stop.abort(reason);
  }

  #startNext(): void {
    while (this.#running < (this.#options.maxParallelPulls() ?? Infinity)) {
      const pull = this.#queued.shift();
      if (pull === undefined) return;
      if (this.#options.limiter?.tryAcquire() === false) {
        this.#settle(pull, ({ reject }) => reject(new Error('pull QPS exceeded')));
        continue;
      }
      this.#running++;
      for (const { listener } of pull.waiters) listener.onStarted?.();
      void pull.asAsked(() => this.#run(pull));
    }
  }

  async #run(pull: Pull): Promise<void> {
    const onProgress = (progress: PullProgress): void => {
      for (const { listener } of pull.waiters) listener.onProgress(progress);
    };
    try {
      const pulled = await pullWithCredentials(this.#options.images, pull.image, pull.credentials, onProgress, pull.stop.signal);
      this.#settle(pull, ({ resolve }) => resolve(pulled));
    } catch (error) {
      this.#settle(pull, ({ reject }) => reject(error));
    } finally {
      this.#running--;
      this.#startNext();
    }
  }

  #settle(pull: Pull, tell: (waiter: Waiter) => void): void {
    if (this.#pulls.get(pull.key) === pull) this.#pulls.delete(pull.key);
    for (const waiter of pull.waiters) tell(waiter);
  }
}
