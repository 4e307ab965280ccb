import type { Subscription } from 'rxjs';
import { abortable } from './abortable.ts';
import type { Clock } from './clock.ts';

export interface TokenRate {
  /** Tokens a second. Zero or less: no limit. */
  readonly qps: number;
  /** The most tokens that wait to be taken; the bucket starts full. */
  readonly burst: number;
}

export interface TokenBucketOptions {
  /** As it is now. A change counts from the next call on. */
  readonly rate: () => TokenRate;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
}

/** Limits calls to the rate's `qps` a second with bursts of `burst`: first come, first served, with one timer at most and none while there is no waiter. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  readonly #waiters = new Set<() => void>();
  #tokens: number;
  #filledAtMs: number;
  #timer: Subscription | undefined;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = atLeastOne(options.rate().burst);
    this.#filledAtMs = options.clock.monotonicMs();
  }

  /** Takes a token if there is one and no caller waits for it. */
  tryAcquire(): boolean {
    if (this.#options.rate().qps <= 0) return true;
    if (this.#waiters.size > 0) return false;
    return this.#take();
  }

  /** Resolves with a token taken. Rejects with the signal's reason when aborted first, taking none. */
  acquire(signal: AbortSignal): Promise<void> {
    return abortable(signal, (resolve) => {
      if (this.tryAcquire()) {
        resolve();
        return undefined;
      }
      const serve = (): void => resolve();
      this.#waiters.add(serve);
      this.#arm();
      return (gaveUp) => {
        if (!gaveUp) return;
        this.#waiters.delete(serve);
        if (this.#waiters.size === 0) this.#disarm();
      };
    });
  }

  #take(): boolean {
    const { rate, clock } = this.#options;
    const { qps, burst } = rate();
    if (qps <= 0) return true;
    const nowMs = clock.monotonicMs();
    this.#tokens = Math.min(atLeastOne(burst), this.#tokens + ((nowMs - this.#filledAtMs) * qps) / 1000);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#waiters.size === 0) return;
    const { clock } = this.#options;
    const { qps } = this.#options.rate();
    const waitMs = qps <= 0 ? 0 : Math.max(1, Math.ceil(((1 - this.#tokens) * 1000) / qps));
    this.#timer = clock.schedule(() => {
      this.#timer = undefined;
      for (const serve of this.#waiters) {
        if (!this.#take()) break;
        this.#waiters.delete(serve);
        serve();
      }
      this.#arm();
    }, waitMs);
  }

  #disarm(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
  }
}

const atLeastOne = (burst: number): number => Math.max(1, burst);
