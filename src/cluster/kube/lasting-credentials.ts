import type { Clock } from '../../base/clock.ts';
import { agoAtMost, type Moment } from '../../base/moment.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { Credentials } from '../../ports/api-credentials.ts';

export interface IssuedCredentials {
  readonly credentials: Credentials;
  readonly givenAt: Moment;
  readonly lifeMs: number;
}

/** Credentials that are good for a time: issued at the first use and after that time, once for all who wait. */
export class LastingCredentials {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly #issue: () => Promise<IssuedCredentials>;
  #known: IssuedCredentials | undefined;
  #running: Promise<Credentials> | undefined;

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>, issue: () => Promise<IssuedCredentials>) {
    this.#clock = clock;
    this.#issue = issue;
  }

  /** Rejects as the issuing does; the next call then tries again. An abort ends the waiting of this caller alone. */
  async current(signal: AbortSignal): Promise<Credentials> {
    signal.throwIfAborted();
    if (this.#known !== undefined && agoAtMost(this.#known.givenAt, this.#clock) < this.#known.lifeMs) return this.#known.credentials;
    return unlessAborted((this.#running ??= this.#issued()), signal);
  }

  /** Forgets those that were issued at least `leastMs` ago. Returns whether the next use gets others. */
  drop(leastMs = 0): boolean {
    if (this.#known !== undefined && agoAtMost(this.#known.givenAt, this.#clock) >= leastMs) this.#known = undefined;
    return this.#known === undefined;
  }

  async #issued(): Promise<Credentials> {
    try {
      this.#known = await this.#issue();
      return this.#known.credentials;
    } finally {
      this.#running = undefined;
    }
  }
}
